--------------------------------- MODULE Neighbours ---------------------------------
(* Entities side by side, each with partitions of its own: what an outage of one is    *)
(* for the others, and a reader that peeks on and on into each of them.                *)
EXTENDS Vocabulary

CONSTANTS
  Entities,
  Partitions,   \* of each entity
  PeekCounts,
  MaxMessages   \* in all entities together

VARIABLES
  messages,  \* as sent: entity, partition, and whether it is still there
  up,        \* the partitions of each entity that answer
  behind,    \* for each entity the number from which its reader peeks on
  seen,      \* what its reader was shown since it began anew
  stayed     \* what has been there since then

vars == <<messages, up, behind, seen, stayed, said>>
core == <<messages, up, behind, seen, stayed>>
View == core
unread == <<behind, seen>>

Numbers == DOMAIN messages
There(e) == {n \in Numbers : messages[n].entity = e /\ messages[n].there}
Outage(e) == up[e] # Partitions

(* LIFE-12: the partition stands above the order of arrival. *)
Told(n) == messages[n].partition * (MaxMessages + 1) + n
Behind(e, start) == {Told(n) : n \in {m \in There(e) : Told(m) >= start}}
Which(told) == CHOOSE n \in Numbers : Told(n) = told
Shown(e, count, start) ==
  LET numbers == First(count, Ascending(Behind(e, start)))
  IN [i \in DOMAIN numbers |-> Which(numbers[i])]

Init ==
  /\ messages = << >>
  /\ up = [e \in Entities |-> Partitions]
  /\ behind = [e \in Entities |-> 0]
  /\ seen = [e \in Entities |-> {}]
  /\ stayed = [e \in Entities |-> {}]
  /\ said = Silence

-------------------------------------------------------------------------------------
To(op, e) == [op |-> op, queue |-> e]

(* PART-05: whichever partition of its own entity is up takes a message. *)
Send(e) ==
  /\ Len(messages) < MaxMessages
  /\ \E p \in up[e] : messages' = Append(messages, [entity |-> e, partition |-> p, there |-> TRUE])
  /\ UNCHANGED <<up, stayed, unread>>
  /\ Says(To("Send", e), Done)

(* PART-03, PART-05: only where all of its own are down it is refused. *)
SendRefused(e) ==
  /\ up[e] = {}
  /\ UNCHANGED core
  /\ Says(To("Send", e), Refused(AnyError))

(* PART-05 *)
Receive(e) ==
  /\ \E n \in There(e) :
       /\ messages[n].partition \in up[e]
       /\ messages' = [messages EXCEPT ![n].there = FALSE]
       /\ stayed' = [stayed EXCEPT ![e] = @ \ {n}]
       /\ Says(To("Receive", e), Received(n))
  /\ UNCHANGED <<up, unread>>

ReceiveNothing(e) ==
  /\ There(e) = {} \/ Outage(e)
  /\ UNCHANGED core
  /\ Says(To("Receive", e), Empty)

(* PART-05 *)
TakePartitionDown(e, p) ==
  /\ p \in up[e]
  /\ up' = [up EXCEPT ![e] = @ \ {p}]
  /\ UNCHANGED <<messages, stayed, unread>>
  /\ Says([op |-> "TakePartitionDown", queue |-> e, partition |-> p], Done)

BringPartitionUp(e, p) ==
  /\ p \notin up[e]
  /\ up' = [up EXCEPT ![e] = @ \union {p}]
  /\ UNCHANGED <<messages, stayed, unread>>
  /\ Says([op |-> "BringPartitionUp", queue |-> e, partition |-> p], Done)

(* PART-20: a reader begins anew, and relies on what stays from then on. *)
PeekAnew(e, count) ==
  /\ ~Outage(e)
  /\ LET shown == Shown(e, count, 0) IN
       /\ seen' = [seen EXCEPT ![e] = {shown[i] : i \in DOMAIN shown}]
       /\ behind' = [behind EXCEPT ![e] =
            IF shown = << >> THEN 0 ELSE Told(shown[Len(shown)]) + 1]
       /\ Says([op |-> "Peek", queue |-> e, count |-> count, start |-> 0], Peeked(shown))
  /\ stayed' = [stayed EXCEPT ![e] = There(e)]
  /\ UNCHANGED <<messages, up>>

(* PART-20 (F11): it goes on behind what it was shown last. *)
PeekOn(e, count) ==
  /\ ~Outage(e)
  /\ LET shown == Shown(e, count, behind[e]) IN
       /\ seen' = [seen EXCEPT ![e] = @ \union {shown[i] : i \in DOMAIN shown}]
       /\ behind' = [behind EXCEPT ![e] =
            IF shown = << >> THEN @ ELSE Told(shown[Len(shown)]) + 1]
       /\ Says([op |-> "Peek", queue |-> e, count |-> count, start |-> behind[e]], Peeked(shown))
  /\ UNCHANGED <<messages, up, stayed>>

Next ==
  \E e \in Entities :
    \/ Send(e) \/ SendRefused(e) \/ Receive(e) \/ ReceiveNothing(e)
    \/ \E p \in Partitions : TakePartitionDown(e, p) \/ BringPartitionUp(e, p)
    \/ \E count \in PeekCounts : PeekAnew(e, count) \/ PeekOn(e, count)

Spec == Init /\ [][Next]_vars

-------------------------------------------------------------------------------------
TypeOK ==
  /\ messages \in Seq([entity : Entities, partition : Partitions, there : BOOLEAN])
  /\ up \in [Entities -> SUBSET Partitions]
  /\ \A e \in Entities : stayed[e] \subseteq There(e)

Asked == said'.command.queue

(* PART-05 *)
OutagesStayWithTheirEntity ==
  [][Asks("TakePartitionDown") \/ Asks("BringPartitionUp") =>
       messages' = messages /\ \A e \in Entities \ {Asked} : up'[e] = up[e]]_vars

(* PART-05 *)
RefusedForItsOwnOutage == [][Answers("Refused") => up[Asked] = {}]_vars

(* PART-05 *)
WithheldForItsOwnOutage ==
  [][Answers("Empty") => There(Asked) = {} \/ Outage(Asked)]_vars

(* PART-19, PART-20: no more than was asked for, and nothing from before. *)
PeeksGoOn ==
  [][Asks("Peek") =>
       LET shown == said'.reply.messages IN
         /\ Len(shown) <= said'.command.count
         /\ \A i \in DOMAIN shown : Told(shown[i]) >= said'.command.start
         /\ \A i, j \in DOMAIN shown : i < j => Told(shown[i]) < Told(shown[j])]_vars

(* PART-20: once nothing more is shown, whatever stayed was shown. *)
PeekingOnFindsAll ==
  [][Asks("Peek") /\ said'.reply.messages = << >> => stayed'[Asked] \subseteq seen'[Asked]]_vars

-------------------------------------------------------------------------------------
(* What must be reachable: each of these must be violated. *)
NeverTakenBesideAnOutage ==
  [][Asks("Send") /\ Answers("Done") => \A e \in Entities \ {Asked} : up[e] # {}]_vars
NeverAllSeen ==
  [][Asks("Peek") /\ said'.reply.messages = << >> =>
       Cardinality({messages[n].partition : n \in stayed[Asked] \intersect seen[Asked]}) < 2]_vars
=====================================================================================
