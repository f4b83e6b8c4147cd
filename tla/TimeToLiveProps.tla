------------------------------ MODULE TimeToLiveProps ------------------------------
(* What holds of messages that live for a while, and what must be reachable. *)
EXTENDS TimeToLive

TypeOK ==
  /\ messages \in Seq([partition : Partitions, place : Places, asked : Lives, age : 0..Forever,
                       lock : 0..LockTicks, cached : 0..LockTicks, due : 0..MaxDelay,
                       reason : {None, "asked", Expiry}, late : BOOLEAN])
  /\ up \subseteq Partitions
  /\ \A n \in Numbers : messages[n].lock > 0 <=> messages[n].place = "locked"

Was(n) == messages[n]
Is(n) == messages'[n]
Asked(op, n) == Asks(op) /\ said'.command.message = n
Given(n) == Asks("Receive") /\ Answers("Received") /\ said'.reply.message = n
Aged(n) == Was(n).age >= Was(n).asked \/ Was(n).age >= EntityLife
Living(n) == Was(n).age < Was(n).asked /\ Was(n).age < EntityLife

(* TTL-01, TTL-13 *)
WhatHasDiedIsGivenToNobody == [][\A n \in Numbers : Given(n) /\ Was(n).cached = 0 => ~Aged(n)]_vars

(* TTL-02 *)
UntilThenItStays ==
  [][\A n \in Numbers : Was(n).place = "active" /\ Living(n) => Is(n).place \in {"active", "locked"}]_vars
WhatLivesIsGiven ==
  [][Asks("Receive") /\ Answers("Empty") /\ up = Partitions =>
       \A n \in In("active") : Aged(n) \/ Was(n).cached > 0]_vars

(* TTL-03 *)
TheEntitySaysForThoseThatDoNot ==
  [][\A n \in Numbers :
       Given(n) /\ Was(n).cached = 0 /\ Was(n).asked = Forever => Was(n).age < EntityLife]_vars

(* TTL-04 *)
NoneIsOlderThanItsEntitySays ==
  [][\A n \in Numbers : Given(n) /\ Was(n).cached = 0 => Was(n).age < EntityLife]_vars
NoneIsOlderThanItAskedFor ==
  [][\A n \in Numbers : Given(n) /\ Was(n).cached = 0 => Was(n).age < Was(n).asked]_vars

(* TTL-05 *)
WhoeverHasItLockedCanSettleIt ==
  [][\A n \in Numbers, op \in {"Complete", "DeadLetter", "Defer", "Abandon"} :
       Asked(op, n) /\ Was(n).place = "locked" => Answers("Done") /\ Is(n).place # "locked"]_vars
LocksKeepIt ==
  [][\A n \in Numbers : Was(n).place = "locked" /\ Is(n).place # "locked" =>
       \/ \E op \in {"Complete", "DeadLetter", "Defer", "Abandon"} : Asked(op, n)
       \/ Asks("AdvanceClock") /\ Was(n).lock = 1]_vars

(* TTL-06 *)
WhatDiedUnderItsLockIsNotGivenAgain == [][\A n \in Numbers : Was(n).late => ~Given(n)]_vars

(* TTL-07 *)
DeadForTheirAgeSaySo ==
  [][\A n \in Numbers : Buries /\ Was(n).place = "active" /\ Is(n).place \notin {"active", "locked"}
       => Is(n).place = "dead" /\ Is(n).reason = "TTLExpiredException"]_vars
WhatHasDiedGoes ==
  \A n \in 1..MaxMessages :
    (n \in Numbers /\ messages[n].place = "active") ~> (n \in Numbers /\ messages[n].place # "active")

(* TTL-08 *)
ElsewhereNoneIsDeadForItsAge ==
  ~Buries => \A n \in In("dead") : messages[n].reason # "TTLExpiredException"

(* TTL-10 *)
DeferredAreNoDeadLetters == [][\A n \in In("deferred") : Is(n).place # "dead"]_vars

(* TTL-12 *)
ScheduledAreNotAlive == \A n \in In("scheduled") : messages[n].age = 0
WhatArrivesIsNew == [][\A n \in In("scheduled") : Is(n).place = "active" => Is(n).age = 0]_vars

(* TTL-13 *)
OutagesDoNotStopTheClock ==
  [][Asks("AdvanceClock") => \A n \in In("active") :
       Was(n).age < Forever - 1 => Is(n).age = Was(n).age + 1]_vars

(* TTL-14: a cache takes what is alive, and keeps it no longer than locks last. *)
CachesTakeTheLiving ==
  [][\A n \in Numbers : Is(n).cached > Was(n).cached => Living(n) /\ Was(n).partition \in up]_vars
CachesEnd ==
  [][Asks("AdvanceClock") => \A n \in Numbers :
       Was(n).cached > 0 => Is(n).cached < Was(n).cached]_vars

NeverShownAfterItsTime ==
  [][Asks("Peek") => \A i \in DOMAIN said'.reply.messages : Living(said'.reply.messages[i])]_vars
NeverHadAfterItsTime ==
  [][\A n \in Numbers : Asked("ReceiveDeferred", n) /\ Answers("Received") => Living(n)]_vars
NeverLostAside ==
  [][\A n \in Numbers : Asked("ReceiveDeferred", n) /\ Answers("Refused") => Hit(n)]_vars
NeverHandedOutLate == [][\A n \in Numbers : Given(n) => Living(n)]_vars
NeverSettledLate == [][\A n \in Numbers : Asked("Complete", n) /\ Answers("Done") => Living(n)]_vars
NeverDeadInAnOutage == [][\A n \in Numbers : Hit(n) /\ Is(n).age # Was(n).age => Is(n).age < Life(n)]_vars
====================================================================================
