-------------------------------- MODULE Settlement --------------------------------
(* What becomes of a message that was received: renewed, completed, given back,     *)
(* deferred or dead-lettered; and how deferred and dead-lettered ones are received.  *)
EXTENDS Vocabulary

CONSTANTS
  Partitions, Breakable,
  Operations,   \* what is asked for a message that was received
  MaxMessages,
  MaxDelivery,
  LockTicks     \* ticks of the clock until a lock ends

VARIABLES
  messages,  \* as sent: partition, place, count, left, lost, reason
  up

vars == <<messages, up, said>>
core == <<messages, up>>
View == core

Brief(m) == <<m.partition, m.place, m.count, m.left, m.lost, m.reason>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])], up |-> up]
Printed == Edge(State, State')

Numbers == DOMAIN messages
Places == {"active", "deferred", "dead", "gone"}
In(place) == {n \in Numbers : messages[n].place = place}
Locked(n) == n \in Numbers /\ messages[n].left > 0
Free(place) == {n \in In(place) : ~Locked(n)}
Hit(n) == messages[n].partition \notin up
Outage == up # Partitions
Room == Len(messages) < MaxMessages

Unlocked(m) == [m EXCEPT !.left = 0, !.lost = TRUE]
Moved(m, place, reason) == [Unlocked(m) EXCEPT !.place = place, !.reason = reason]
(* DLQ-01, DLQ-02, DLQ-03, DEFER-06: what may become of it when a lock ends unsettled. *)
(* Whether a deferred one is dead-lettered after too many deliveries, nobody says.     *)
Returned(m) ==
  IF m.place = "dead" THEN {Unlocked(m)}
  ELSE LET counted == [m EXCEPT !.count = AtMost(@ + 1, MaxDelivery)]
           dead == Moved(counted, "dead", "MaxDeliveryCountExceeded")
       IN IF counted.count < MaxDelivery THEN {Unlocked(counted)}
          ELSE IF m.place = "deferred" THEN {Unlocked(counted), dead}
          ELSE {dead}

Init ==
  /\ messages = << >>
  /\ up = Partitions
  /\ said = Silence

-----------------------------------------------------------------------------------
Send ==
  /\ Room
  /\ \E p \in up :
       /\ messages' = Append(messages, [partition |-> p, place |-> "active", count |-> 0,
                                        left |-> 0, lost |-> FALSE, reason |-> None])
       /\ Says([op |-> "Send", to |-> "queue"], DoneIn(p))
  /\ UNCHANGED up

(* DLQ-11 *)
SendToDead ==
  /\ UNCHANGED core
  /\ Says([op |-> "Send", to |-> "dead-letter queue"], Refused(AnyError))

Lock(n) ==
  /\ messages' = [messages EXCEPT ![n].left = LockTicks]
  /\ UNCHANGED up

ReceiveCommand == [op |-> "Receive", from |-> "queue"]
ReceiveDeadCommand == [op |-> "Receive", from |-> "dead-letter queue"]
NumberCommand(n) == [op |-> "ReceiveByNumber", message |-> n]

(* LOCK-01, DEFER-01, DLQ-02, DLQ-14: only what is active. *)
Receive ==
  \E n \in Free("active") : ~Hit(n) /\ Lock(n) /\ Says(ReceiveCommand, Received(n))

ReceiveNothing ==
  /\ Outage \/ Free("active") = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand, Empty)

(* LIFE-11, DLQ-13 *)
ReceiveRefused ==
  /\ Outage
  /\ UNCHANGED core
  /\ \E command \in {ReceiveCommand, ReceiveDeadCommand} : Says(command, Refused(AnyError))

(* DLQ-07, DLQ-12: from whichever partition. *)
ReceiveDead ==
  \E n \in Free("dead") : ~Hit(n) /\ Lock(n) /\ Says(ReceiveDeadCommand, Received(n))

(* DLQ-12, DLQ-13 *)
ReceiveDeadNothing ==
  /\ Outage \/ Free("dead") = {}
  /\ UNCHANGED core
  /\ Says(ReceiveDeadCommand, Empty)

(* DEFER-02, DEFER-08, DEFER-13 *)
ReceiveByNumber(n) ==
  /\ n \in Free("deferred")
  /\ ~Hit(n)
  /\ Lock(n)
  /\ Says(NumberCommand(n), Received(n))

(* DEFER-03, DEFER-07 *)
NumberNotFound(n) ==
  /\ n \notin In("active") \union In("deferred")
  /\ UNCHANGED core
  /\ Says(NumberCommand(n), Refused("message-not-found"))

(* DEFER-04, DEFER-05, DEFER-13 *)
NumberRefused(n) ==
  /\ n \in In("active") \union In("deferred")
  /\ n \in In("active") \/ Locked(n) \/ Hit(n)
  /\ UNCHANGED core
  /\ Says(NumberCommand(n), Refused(AnyError))

Settling(op, n, lock) == [op |-> op, message |-> n, lock |-> lock]

(* LOCK-08, DEFER-07, DLQ-07 *)
Complete(n) ==
  /\ Locked(n)
  /\ messages' = [messages EXCEPT ![n] = Moved(@, "gone", None)]
  /\ UNCHANGED up
  /\ Says(Settling("Complete", n, "held"), Done)

(* DLQ-01, DLQ-02, DLQ-03, DEFER-06 *)
Abandon(n) ==
  /\ Locked(n)
  /\ \E m \in Returned(messages[n]) : messages' = [messages EXCEPT ![n] = m]
  /\ UNCHANGED up
  /\ Says(Settling("Abandon", n, "held"), Done)

(* DEFER-01, DEFER-08 *)
Defer(n) ==
  /\ Locked(n)
  /\ messages[n].place # "dead"
  /\ messages' = [messages EXCEPT ![n] = Moved(@, "deferred", None)]
  /\ UNCHANGED up
  /\ Says(Settling("Defer", n, "held"), Done)

(* DLQ-05, DLQ-14 *)
DeadLetter(n) ==
  /\ Locked(n)
  /\ messages[n].place # "dead"
  /\ messages' = [messages EXCEPT ![n] = Moved(@, "dead", "of the receiver")]
  /\ UNCHANGED up
  /\ Says(Settling("DeadLetter", n, "held"), Done)

(* DLQ-10 *)
DeadLetterAgainRefused(n) ==
  /\ Locked(n)
  /\ messages[n].place = "dead"
  /\ UNCHANGED core
  /\ Says(Settling("DeadLetter", n, "held"), Refused(AnyError))

(* LOCK-04 *)
RenewLock(n) ==
  /\ Locked(n)
  /\ messages' = [messages EXCEPT ![n].left = LockTicks]
  /\ UNCHANGED up
  /\ Says(Settling("RenewLock", n, "held"), [type |-> "Renewed"])

(* LOCK-05, LOCK-06, LOCK-07: even while another delivery is locked. *)
SettleLost(op, n) ==
  /\ n \in Numbers
  /\ messages[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, "lost"), Refused("lock-lost"))

(* Whether a dead letter can be deferred, nobody says. *)
SettleRefused(op, n) ==
  /\ Locked(n)
  /\ op = "Defer" => messages[n].place # "dead"
  /\ Hit(n)
  /\ UNCHANGED core
  /\ Says(Settling(op, n, "held"), Refused(AnyError))

(* DEFER-09: the oldest of a partition, those that are deferred among them. *)
Shown(p) == Ascending({n \in In("active") \union In("deferred") : messages[n].partition = p})
PeekCommand == [op |-> "Peek", from |-> "queue", count |-> MaxMessages]
Peek ==
  /\ \E p \in up :
       Says(PeekCommand, Peeked(Shown(p)))
  /\ UNCHANGED core

(* LIFE-11 *)
PeekRefused ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says(PeekCommand, Refused(AnyError))

(* DLQ-01, DLQ-02, DEFER-06 *)
AdvanceClock ==
  /\ messages' \in
       {later \in [Numbers -> UNION {Returned(messages[n]) \union
                     {messages[n], [messages[n] EXCEPT !.left = @ - 1]} : n \in Numbers}] :
          \A n \in Numbers :
            IF messages[n].left = 1 THEN later[n] \in Returned(messages[n])
            ELSE later[n] = [messages[n] EXCEPT !.left = IF @ = 0 THEN 0 ELSE @ - 1]}
  /\ UNCHANGED up
  /\ Says([op |-> "AdvanceClock", what |-> "locks"], Done)

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED messages
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED messages
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ Send \/ SendToDead
  \/ Receive \/ ReceiveNothing \/ ReceiveDead \/ ReceiveDeadNothing \/ ReceiveRefused
  \/ \E n \in 1..MaxMessages :
       \/ ReceiveByNumber(n) \/ NumberNotFound(n) \/ NumberRefused(n)
       \/ "Complete" \in Operations /\ Complete(n)
       \/ "Abandon" \in Operations /\ Abandon(n)
       \/ "Defer" \in Operations /\ Defer(n)
       \/ "DeadLetter" \in Operations /\ (DeadLetter(n) \/ DeadLetterAgainRefused(n))
       \/ "RenewLock" \in Operations /\ RenewLock(n)
       \/ \E op \in Operations : SettleLost(op, n) \/ SettleRefused(op, n)
  \/ Peek \/ PeekRefused
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars
===================================================================================
