------------------------------ MODULE ScheduledProps ------------------------------
(* What holds of scheduled messages, and what must be reachable. *)
EXTENDS Scheduled

TypeOK ==
  /\ messages \in Seq([key : Sent, partition : Partitions, place : Places, due : 0..MaxDelay,
                       number : 1..2 * MaxMessages, later : BOOLEAN])
  /\ issued \in 0..2 * MaxMessages
  /\ up \subseteq Partitions

PlaceOf(n) == messages[n].place
Got(n) == Answers("Received") /\ said'.reply.message = n

(* SCHED-01, SCHED-02 *)
NothingIsReceivedBeforeItIsDue ==
  [][\A n \in Numbers : Got(n) => messages[n].due = 0 /\ PlaceOf(n) = "active"]_vars

(* SCHED-03 *)
CancellingInTimeSucceeds ==
  [][\A n \in Numbers :
       Asks("Cancel") /\ said'.command.message = n /\ up = Partitions
       /\ PlaceOf(n) = "scheduled" /\ messages[n].due > 0
         => Answers("Done") /\ messages'[n].place = "cancelled"]_vars
NumbersAreTold ==
  [][Asks("Schedule") /\ ~Answers("Refused") =>
       /\ said'.reply.message = Len(messages')
       /\ messages'[Len(messages')].number \notin {messages[n].number : n \in Numbers}]_vars

(* SCHED-04 *)
CancelledNeverCome ==
  [][\A n \in Numbers : PlaceOf(n) = "cancelled" => messages'[n].place = "cancelled"]_vars
PeeksShowNothingCancelled ==
  [][Answers("Peeked") => \A i \in DOMAIN said'.reply.messages :
       PlaceOf(said'.reply.messages[i]) # "cancelled"]_vars

(* SCHED-05, SCHED-11: what is scheduled goes only by arriving, or by being cancelled. *)
OnlyCancellingTakesAway ==
  [][\A n \in Numbers :
       /\ PlaceOf(n) = "active" => messages'[n].place \in {"active", "gone"}
       /\ PlaceOf(n) = "active" /\ messages'[n].place = "gone" => Got(n)
       /\ PlaceOf(n) = "scheduled" => messages'[n].place \in {"scheduled", "active", "cancelled"}
       /\ PlaceOf(n) = "scheduled" /\ messages'[n].place = "cancelled"
            => Asks("Cancel") /\ said'.command.message = n]_vars
ReceivedOnce == [][\A n \in Numbers : PlaceOf(n) = "gone" => messages'[n].place = "gone"]_vars

Arrived(n) == PlaceOf(n) = "scheduled" /\ messages'[n].place = "active"

(* SCHED-06 *)
WhatArrivesIsRenumbered ==
  [][\A n \in Numbers : Arrived(n) => messages'[n].number # messages[n].number]_vars

(* SCHED-07 *)
WhatArrivesIsTheLast ==
  [][\A n, m \in Numbers : Arrived(n) /\ m # n => messages'[n].number > messages[m].number]_vars
KeysComeInOrder ==
  [][\A n, m \in Numbers :
       Got(n) /\ PlaceOf(m) = "active" /\ messages[n].key # None
       /\ messages[m].key = messages[n].key => messages[n].number <= messages[m].number]_vars

(* SCHED-08 *)
PeeksShowTheScheduled ==
  [][Answers("Peeked") => \E p \in up : \A n \in In("scheduled") :
       messages[n].partition = p
         => \E i \in DOMAIN said'.reply.messages : said'.reply.messages[i] = n]_vars

(* SCHED-09 *)
KeyedLieWhereTheirKeyLeads ==
  \A n \in Numbers : messages[n].key # None => messages[n].partition = Place[messages[n].key]

(* SCHED-10, SCHED-12 *)
RefusalsChangeNothing == [][Answers("Refused") => core' = core]_vars
ConflictingKeysAreRefused ==
  [][Asks("Schedule") /\ ~said'.command.fits => Refuses("invalid-operation")]_vars

(* SCHED-13 *)
SessionsHaveActiveMessages ==
  [][Answers("SessionAccepted") =>
       \E n \in In("active") : messages[n].key = said'.reply.session_id]_vars

(* SCHED-02, SCHED-11 *)
WhatIsScheduledComes ==
  \A n \in 1..MaxMessages :
    (n \in Numbers /\ messages[n].place = "scheduled")
      ~> (n \in Numbers /\ messages[n].place # "scheduled")

NeverReceivedLater == [][\A n \in Numbers : Got(n) => ~messages[n].later]_vars
NeverAtOnce ==
  [][Asks("Schedule") /\ ~Answers("Refused") => said'.command.delay > 0]_vars
NeverTooLate ==
  [][Asks("Cancel") /\ Answers("Refused") =>
       said'.command.message \notin {n \in In("active") : messages[n].later}]_vars
NeverOvertaken ==
  [][\A n, m \in Numbers : Arrived(n) => ~(m > n /\ PlaceOf(m) = "active"
       /\ messages[m].key = messages[n].key /\ messages[n].key # None)]_vars
NeverDueInAnOutage == \A n \in In("scheduled") : messages[n].due > 0 \/ ~Hit(n)
NeverCancelledWhenDue ==
  [][\A n \in Numbers : PlaceOf(n) = "scheduled" /\ messages'[n].place = "cancelled"
       => messages[n].due > 0]_vars
====================================================================================
