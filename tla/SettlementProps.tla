------------------------------ MODULE SettlementProps ------------------------------
(* What holds of settlements, and what must be reachable. *)
EXTENDS Settlement

TypeOK ==
  /\ messages \in Seq([partition : Partitions, place : Places, count : 0..MaxDelivery,
                       left : 0..LockTicks, lost : BOOLEAN,
                       reason : {None, "MaxDeliveryCountExceeded", "of the receiver"}])
  /\ up \subseteq Partitions

(* DLQ-02, DLQ-03, DLQ-05, DLQ-14 *)
DeadForAReason ==
  \A n \in Numbers : messages[n].place = "dead" <=> messages[n].reason # None
DeadAfterTooMany ==
  \A n \in Numbers : messages[n].reason = "MaxDeliveryCountExceeded"
    => messages[n].count = MaxDelivery
ActiveAfterFewer ==
  \A n \in Numbers : messages[n].place = "active" => messages[n].count < MaxDelivery

Got(n) == Answers("Received") /\ said'.reply.message = n
Place(n) == messages[n].place
Changed == {n \in Numbers : messages'[n] # messages[n]}

(* DEFER-01, DEFER-02, DEFER-04, DLQ-07, DLQ-14, LOCK-01 *)
EachIsReceivedWhereItIs ==
  [][\A n \in Numbers : Got(n) =>
       /\ ~Locked(n)
       /\ Asks("ReceiveByNumber") => Place(n) = "deferred"
       /\ Asks("Receive") =>
            Place(n) = (IF said'.command.from = "queue" THEN "active" ELSE "dead")]_vars

(* LOCK-01, LOCK-04 *)
LocksLast ==
  [][Asks("AdvanceClock") => \A n \in Numbers : messages[n].left > 1 =>
       messages'[n] = [messages[n] EXCEPT !.left = @ - 1]]_vars
RenewedLocksAreWhole ==
  [][Asks("RenewLock") /\ Answers("Renewed") =>
       messages'[said'.command.message].left = LockTicks]_vars

(* LOCK-05, LOCK-06, LOCK-07 *)
LostLocksDoNothing ==
  [][\A op \in Operations : Asks(op) /\ said'.command.lock = "lost"
       => Refuses("lock-lost") /\ core' = core]_vars

(* LOCK-08, LOCK-10 *)
OneMessageIsSettled ==
  [][\A op \in Operations : Asks(op) =>
       /\ Changed \subseteq {said'.command.message}
       /\ Answers("Refused") => Changed = {}]_vars

(* DLQ-01: nothing else makes the count grow. *)
CountsOnlyFailedDeliveries ==
  [][\A n \in Numbers : messages'[n].count # messages[n].count =>
       /\ Locked(n) /\ messages'[n].left = 0
       /\ messages'[n].count = messages[n].count + 1
       /\ Asks("Abandon") \/ (Asks("AdvanceClock") /\ messages[n].left = 1)]_vars

(* DLQ-07, DLQ-09, DLQ-10, LOCK-08 *)
TheDeadStayDead ==
  [][\A n \in Numbers : Place(n) = "dead" /\ messages'[n].place # "dead" =>
       Asks("Complete") /\ messages'[n].place = "gone"]_vars
TheGoneStayGone ==
  [][\A n \in Numbers : Place(n) = "gone" => messages'[n].place = "gone"]_vars

(* DEFER-06 *)
DeferredStayDeferred ==
  [][\A n \in Numbers : Place(n) = "deferred" =>
       messages'[n].place \in {"deferred", "dead", "gone"}]_vars

(* DEFER-08 *)
WhereItLiesStays ==
  [][\A n \in Numbers : messages'[n].partition = messages[n].partition]_vars

(* DEFER-03, DEFER-04, DEFER-05 *)
NumbersAreRefusedRightly ==
  [][Asks("ReceiveByNumber") /\ Answers("Refused") /\ ~Outage =>
       said'.command.message \notin Free("deferred")]_vars

(* DEFER-09 *)
PeeksShowTheDeferred ==
  [][Answers("Peeked") =>
       LET shown == {said'.reply.messages[i] : i \in DOMAIN said'.reply.messages} IN
         \A m \in shown, n \in In("deferred") :
           messages[m].partition = messages[n].partition => n \in shown]_vars

(* DLQ-12 *)
TheDeadAreFound ==
  [][Asks("Receive") /\ said'.command.from # "queue" /\ Answers("Empty") /\ ~Outage
       => Free("dead") = {}]_vars

(* DLQ-11 *)
NothingIsSentToTheDead ==
  [][Asks("Send") /\ said'.command.to # "queue" => Answers("Refused") /\ core' = core]_vars

NeverDeferredAgain ==
  [][Asks("Defer") /\ Answers("Done") => Place(said'.command.message) # "deferred"]_vars
NeverDeadOfTheReceiver == \A n \in Numbers : messages[n].reason # "of the receiver"
NeverDeadForTooMany == \A n \in Numbers : messages[n].reason # "MaxDeliveryCountExceeded"
NeverDeadAndGone == [][\A n \in Numbers : Place(n) = "dead" => messages'[n].place = "dead"]_vars
NeverRenewedInTime == [][Asks("RenewLock") /\ Answers("Renewed") => messages' = messages]_vars
NeverLostWhileHeld ==
  [][Refuses("lock-lost") => ~Locked(said'.command.message)]_vars
NeverDeferredBeyondItsCount ==
  \A n \in Numbers : messages[n].place = "deferred" => messages[n].count < MaxDelivery
====================================================================================
