---------------------------------- MODULE Settings ----------------------------------
(* What a queue is created with, what is got of it, and what an update may change.     *)
EXTENDS Vocabulary

CONSTANTS
  Names,
  Locks,        \* lock durations that may be asked for, in seconds
  Deliveries    \* greatest delivery counts that may be asked for

VARIABLE queues  \* the queues that there are, with their settings

vars == <<queues, said>>
core == queues
View == core

Unasked == 0  \* a setting that the request leaves out
DefaultLock == 60
LongestLock == 300
DefaultDeliveries == 10
There == DOMAIN queues

Asked == [lock : Locks \union {Unasked}, deliveries : Deliveries \union {Unasked},
          sessions : BOOLEAN, detects : BOOLEAN]
Or(value, default) == IF value = Unasked THEN default ELSE value
Kept(asked) == [lock |-> AtMost(Or(asked.lock, DefaultLock), LongestLock),
                deliveries |-> Or(asked.deliveries, DefaultDeliveries),
                sessions |-> asked.sessions, detects |-> asked.detects]
IsTooLong(asked) == Or(asked.lock, DefaultLock) > LongestLock

Init == queues = [name \in {} |-> 0] /\ said = Silence

-------------------------------------------------------------------------------------
CreateCommand(name, asked) == [op |-> "CreateQueue", queue |-> name, asked |-> asked]

(* LOCK-02, LOCK-03, DLQ-04, MGMT-11 *)
Create(name, asked) ==
  /\ name \notin There
  /\ queues' = [each \in There \union {name} |->
       IF each = name THEN Kept(asked) ELSE queues[each]]
  /\ Says(CreateCommand(name, asked), Done)

(* LOCK-03: or a longer lock is refused. *)
CreateTooLong(name, asked) ==
  /\ IsTooLong(asked)
  /\ UNCHANGED core
  /\ Says(CreateCommand(name, asked), Refused(AnyError))

UpdateCommand(name, asked) == [op |-> "UpdateQueue", queue |-> name, asked |-> asked]

(* MGMT-12, MGMT-13, MGMT-14: sessions and duplicates stay, whatever is asked. *)
Update(name, asked) ==
  /\ name \in There
  /\ queues' = [queues EXCEPT ![name] =
       [Kept(asked) EXCEPT !.sessions = queues[name].sessions, !.detects = queues[name].detects]]
  /\ Says(UpdateCommand(name, asked), Done)

UpdateRefused(name, asked) ==
  /\ name \in There
  /\ \/ IsTooLong(asked)
     \/ asked.sessions # queues[name].sessions
     \/ asked.detects # queues[name].detects
  /\ UNCHANGED core
  /\ Says(UpdateCommand(name, asked), Refused(AnyError))

Delete(name) ==
  /\ name \in There
  /\ queues' = [each \in There \ {name} |-> queues[each]]
  /\ Says([op |-> "DeleteQueue", queue |-> name], Done)

(* MGMT-11 *)
Get(name) ==
  /\ name \in There
  /\ UNCHANGED core
  /\ Says([op |-> "GetQueue", queue |-> name], [type |-> "Described", settings |-> queues[name]])

(* MGMT-16 *)
List ==
  /\ UNCHANGED core
  /\ Says([op |-> "ListQueues"], [type |-> "Listed", names |-> There])

Next ==
  \/ \E name \in Names :
       \/ \E asked \in Asked :
            \/ Create(name, asked) \/ CreateTooLong(name, asked)
            \/ Update(name, asked) \/ UpdateRefused(name, asked)
       \/ Delete(name) \/ Get(name)
  \/ List

Spec == Init /\ [][Next]_vars

-------------------------------------------------------------------------------------
TypeOK ==
  /\ There \subseteq Names
  /\ \A name \in There : queues[name] \in
       [lock : Locks \union {DefaultLock, LongestLock},
        deliveries : Deliveries \union {DefaultDeliveries}, sessions : BOOLEAN, detects : BOOLEAN]

(* LOCK-03 *)
NoLockIsLonger == \A name \in There : queues[name].lock <= LongestLock

(* LOCK-02, DLQ-04 *)
DefaultsAreKept ==
  [][Asks("CreateQueue") /\ Answers("Done") =>
       LET made == queues'[said'.command.queue] IN
         /\ said'.command.asked.lock = Unasked => made.lock = 60
         /\ said'.command.asked.deliveries = Unasked => made.deliveries = 10]_vars

(* MGMT-13, MGMT-14 *)
WhatIsFixedStays ==
  [][\A name \in There \intersect DOMAIN queues' :
       /\ queues'[name].sessions = queues[name].sessions
       /\ queues'[name].detects = queues[name].detects]_vars

(* MGMT-11, MGMT-12 *)
WhatIsGotIsWhatWasSet ==
  [][/\ Answers("Described") => said'.reply.settings = queues[said'.command.queue]
     /\ Answers("Done") /\ Asks("UpdateQueue") /\ ~IsTooLong(said'.command.asked)
          => queues'[said'.command.queue].lock = Or(said'.command.asked.lock, DefaultLock)]_vars

(* MGMT-16 *)
ListsNameAll == [][Answers("Listed") => said'.reply.names = There]_vars

NeverTooLong == [][Asks("CreateQueue") => Answers("Done")]_vars
NeverChanged == [][Asks("UpdateQueue") => queues' = queues]_vars
NeverFixed == [][Asks("UpdateQueue") => ~Answers("Refused") \/ IsTooLong(said'.command.asked)]_vars
=====================================================================================
