--------------------------------- MODULE Enlisting ---------------------------------
(* Settling in a transaction: what was received stays with its receiver until the     *)
(* commit settles it. A message's deliveries are counted, and each has a lock of its  *)
(* own; whoever was given the next one is somebody else.                              *)
EXTENDS Vocabulary

CONSTANTS
  Operations,   \* how a message may be settled
  MaxMessages,
  MaxGiven,     \* how often each is received
  MaxDelivery,
  LockTicks     \* ticks of the clock until a lock ends

VARIABLES
  messages,  \* place, count of failed deliveries, how often given, left of the lock, over
  open,      \* whether the transaction is
  enlisted,  \* what is to be settled by the commit: message, given, op
  staged,    \* how many were sent in it
  doomed     \* whether what it holds has the commit refused

vars == <<messages, open, enlisted, staged, doomed, said>>
core == <<messages, open, enlisted, staged, doomed>>
View == core

Numbers == DOMAIN messages
Places == {"active", "deferred", "dead", "gone"}
(* Whether a lock outlasts its time while a commit is waited for, nobody says: then it is over. *)
Locked(n) == messages[n].left > 0 \/ messages[n].over
Free == {n \in Numbers : messages[n].place = "active" /\ ~Locked(n)}
Holds(n, given) == Locked(n) /\ messages[n].given = given
Waits(n) == \E each \in enlisted : each.message = n /\ Holds(n, each.given)
Room == Len(messages) + staged < MaxMessages

New == [place |-> "active", count |-> 0, given |-> 0, left |-> 0, over |-> FALSE]
Unlocked(m) == [m EXCEPT !.left = 0, !.over = FALSE]
(* DLQ-02, LIFE-05 *)
Returned(m) ==
  [Unlocked(m) EXCEPT !.count = @ + 1,
                      !.place = IF m.count + 1 < MaxDelivery THEN "active" ELSE "dead"]
Settled(m, op) ==
  CASE op = "Complete" -> [Unlocked(m) EXCEPT !.place = "gone"]
    [] op = "Defer" -> [Unlocked(m) EXCEPT !.place = "deferred"]
    [] op = "DeadLetter" -> [Unlocked(m) EXCEPT !.place = "dead"]
    [] op = "Abandon" -> Returned(m)

Init ==
  /\ messages = << >>
  /\ open = FALSE /\ enlisted = {} /\ staged = 0 /\ doomed = FALSE
  /\ said = Silence

------------------------------------------------------------------------------------
Send ==
  /\ Room
  /\ messages' = Append(messages, New)
  /\ UNCHANGED <<open, enlisted, staged, doomed>>
  /\ Says([op |-> "Send"], Done)

(* LOCK-01, LOCK-11, LOCK-12: whatever waits for a commit stays with its receiver. *)
Receive ==
  /\ \E n \in Free :
       /\ messages[n].given < MaxGiven
       /\ messages' = [messages EXCEPT ![n].given = @ + 1, ![n].left = LockTicks]
       /\ Says([op |-> "Receive"], Received(n))
  /\ UNCHANGED <<open, enlisted, staged, doomed>>

ReceiveNothing ==
  /\ Free = {}
  /\ UNCHANGED core
  /\ Says([op |-> "Receive"], Empty)

Settling(how, op, n, given) == [op |-> how, as |-> op, message |-> n, given |-> given]

(* LOCK-12: by the receiver, as long as no transaction holds it to something else. *)
Settle(op, n) ==
  /\ n \in Numbers /\ Locked(n) /\ ~messages[n].over /\ ~Waits(n)
  /\ messages' = [messages EXCEPT ![n] = Settled(@, op)]
  /\ UNCHANGED <<open, enlisted, staged, doomed>>
  /\ Says(Settling("Settle", op, n, messages[n].given), Done)

Lost(n) == {given \in 1..messages[n].given : ~Holds(n, given)}

(* LOCK-05, LOCK-06 *)
SettleLost(op, n) ==
  /\ n \in Numbers
  /\ \E given \in Lost(n) : Says(Settling("Settle", op, n, given), Refused("lock-lost"))
  /\ UNCHANGED core

Begin ==
  /\ ~open
  /\ open' = TRUE
  /\ UNCHANGED <<messages, enlisted, staged, doomed>>
  /\ Says([op |-> "Begin"], Done)

SendInTransaction ==
  /\ open /\ Room
  /\ staged' = staged + 1
  /\ UNCHANGED <<messages, open, enlisted, doomed>>
  /\ Says([op |-> "SendInTransaction"], Done)

(* LOCK-11 *)
Enlist(op, n) ==
  /\ open
  /\ n \in Numbers /\ Locked(n) /\ ~Waits(n)
  /\ enlisted' = enlisted \union {[message |-> n, given |-> messages[n].given, op |-> op]}
  /\ UNCHANGED <<messages, open, staged, doomed>>
  /\ Says(Settling("Enlist", op, n, messages[n].given), Done)

(* LOCK-13 (SETTLEMENT-REFUSAL): a lost lock is refused, now or by the commit. *)
EnlistLost(op, n) ==
  /\ open
  /\ n \in Numbers
  /\ \E given \in Lost(n) : Says(Settling("Enlist", op, n, given), Done)
  /\ doomed' = TRUE
  /\ UNCHANGED <<messages, open, enlisted, staged>>

(* What the refusal is for the rest of the transaction, nobody says. *)
EnlistLostRefused(op, n) ==
  /\ open
  /\ n \in Numbers
  /\ \E given \in Lost(n) : Says(Settling("Enlist", op, n, given), Refused("lock-lost"))
  /\ doomed' \in {doomed, TRUE}
  /\ UNCHANGED <<messages, open, enlisted, staged>>

Ended == open' = FALSE /\ enlisted' = {} /\ staged' = 0 /\ doomed' = FALSE
Kept == \A each \in enlisted : Holds(each.message, each.given)
(* What outlasted its time with the transaction ends with it. *)
Released(m) == IF m.over THEN Returned(m) ELSE m
Sent == [i \in 1..staged |-> New]
OpOf(n) == (CHOOSE each \in enlisted : each.message = n).op

(* LOCK-11: all of it, or nothing. *)
Commit ==
  /\ open /\ ~doomed /\ Kept
  /\ messages' = [n \in Numbers |->
       IF Waits(n) THEN Settled(messages[n], OpOf(n)) ELSE messages[n]] \o Sent
  /\ Ended
  /\ Says([op |-> "Commit"], Done)

(* LOCK-13 *)
CommitRefused ==
  /\ open /\ (doomed \/ ~Kept)
  /\ messages' = [n \in Numbers |-> Released(messages[n])]
  /\ Ended
  /\ Says([op |-> "Commit"], Refused(AnyError))

(* LOCK-12 *)
Rollback ==
  /\ open
  /\ messages' = [n \in Numbers |-> Released(messages[n])]
  /\ Ended
  /\ Says([op |-> "Rollback"], Done)

(* LOCK-01 (LOCK-IN-TRANSACTION): while a commit is waited for a lock may end in its time, or not. *)
Later(n) ==
  LET m == messages[n] IN
    IF m.left # 1 THEN {[m EXCEPT !.left = IF @ = 0 THEN 0 ELSE @ - 1]}
    ELSE {Returned(m)} \union (IF Waits(n) THEN {[m EXCEPT !.left = 0, !.over = TRUE]} ELSE {})
AdvanceClock ==
  /\ messages' \in {later \in [Numbers -> UNION {Later(n) : n \in Numbers}] :
                      \A n \in Numbers : later[n] \in Later(n)}
  /\ UNCHANGED <<open, enlisted, staged, doomed>>
  /\ Says([op |-> "AdvanceClock"], Done)

Next ==
  \/ Send \/ Receive \/ ReceiveNothing
  \/ \E op \in Operations, n \in 1..MaxMessages :
       \/ Settle(op, n) \/ SettleLost(op, n)
       \/ Enlist(op, n) \/ EnlistLost(op, n) \/ EnlistLostRefused(op, n)
  \/ Begin \/ SendInTransaction \/ Commit \/ CommitRefused \/ Rollback
  \/ AdvanceClock

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------------
TypeOK ==
  /\ messages \in Seq([place : Places, count : 0..MaxDelivery, given : 0..MaxGiven,
                       left : 0..LockTicks, over : BOOLEAN])
  /\ enlisted \subseteq [message : Numbers, given : 1..MaxGiven, op : Operations]
  /\ open \in BOOLEAN /\ doomed \in BOOLEAN /\ staged \in 0..MaxMessages
  /\ open \/ (enlisted = {} /\ staged = 0 /\ ~doomed)

(* LOCK-11, LOCK-12: a lock beyond its time is one that a transaction waits with. *)
LocksOutlastForACommitOnly == \A n \in Numbers : messages[n].over => Waits(n)

(* LOCK-11: neither the settlement nor the sends show before the commit. *)
NothingBeforeTheCommit ==
  [][Asks("Enlist") \/ Asks("SendInTransaction") => messages' = messages]_vars

(* LOCK-11, LOCK-12 *)
WhatWaitsIsNotGiven ==
  [][(Asks("Receive") /\ Answers("Received")) =>
       \A each \in enlisted : each.message = said'.reply.message
         => messages[each.message].left = 0 /\ ~messages[each.message].over]_vars

(* LOCK-11 *)
Result == [op \in Operations |->
  CASE op = "Complete" -> {"gone"} [] op = "Defer" -> {"deferred"}
    [] op = "DeadLetter" -> {"dead"} [] op = "Abandon" -> {"active", "dead"}]
CommitsSettleAll ==
  [][(Asks("Commit") /\ Answers("Done")) =>
       /\ Len(messages') = Len(messages) + staged
       /\ \A each \in enlisted :
            LET m == messages'[each.message] IN m.place \in Result[each.op] /\ m.left = 0
       /\ \A n \in Numbers : messages'[n] # messages[n] => \E each \in enlisted : each.message = n]_vars

(* LOCK-12: also what its receiver has left of the lock, and the count. *)
RollbacksLeaveAllAsItWas ==
  [][Asks("Rollback") =>
       /\ Len(messages') = Len(messages)
       /\ \A n \in Numbers : ~messages[n].over => messages'[n] = messages[n]]_vars

(* LOCK-12 *)
HeldLocksSettle == [][(Asks("Settle") /\ Answers("Refused")) =>
  LET m == messages[said'.command.message] IN
    m.given # said'.command.given \/ (m.left = 0 /\ ~m.over)]_vars

(* LOCK-12, DLQ-01: once for each delivery, with a transaction as without. *)
EachDeliveryCountsOnce == \A n \in Numbers : messages[n].count <= messages[n].given
CountsGrowByOne ==
  [][\A n \in Numbers : messages'[n].count # messages[n].count =>
       /\ messages'[n].count = messages[n].count + 1
       /\ messages'[n].left = 0 /\ ~messages'[n].over]_vars

(* LOCK-13 *)
NothingLostIsSettled ==
  [][(Asks("Commit") /\ Answers("Done")) => \A each \in enlisted :
       LET m == messages[each.message] IN
         m.given = each.given /\ (m.left > 0 \/ m.over)]_vars
RefusedCommitsSettleNothing ==
  [][(Asks("Commit") /\ Answers("Refused")) =>
       /\ Len(messages') = Len(messages)
       /\ \A n \in Numbers : messages'[n] = messages[n]
            \/ (messages[n].over /\ messages'[n].count = messages[n].count + 1)]_vars
NobodyElseLosesIt ==
  [][(Asks("Commit") \/ Asks("Rollback")) => \A each \in enlisted :
       messages[each.message].given # each.given
         => messages'[each.message].left = messages[each.message].left]_vars
LostLocksAreRefusedAtLast ==
  [][(Asks("Commit") /\ Answers("Done")) => ~doomed]_vars

NeverSettledByACommit ==
  [][(Asks("Commit") /\ Answers("Done")) => enlisted = {}]_vars
NeverRefusedForAnotherReceiver ==
  [][(Asks("Commit") /\ Answers("Refused")) =>
       \A each \in enlisted : messages[each.message].given = each.given]_vars
NeverHeldAfterARollback ==
  [][Asks("Rollback") => \A each \in enlisted : messages'[each.message].left = 0]_vars
NeverSettledBeyondItsTime ==
  [][(Asks("Commit") /\ Answers("Done")) => \A n \in Numbers : ~messages[n].over]_vars
====================================================================================
