---------------------------------- MODULE Statuses ----------------------------------
(* A source that forwards to a destination which may be disabled, deleted or full, and  *)
(* what becomes of the messages that cannot go on. What the status of the source is for *)
(* its forwarding, nobody says: here a message may go on, and need not.                 *)
EXTENDS Vocabulary

CONSTANTS
  Suspended,    \* entities that are disabled at times
  Capacity,     \* messages that the destination has room for
  MaxMessages

VARIABLES
  messages,  \* as accepted: whom it was sent to, its place, whether it ever arrived
  exists,    \* the entities that there are
  status     \* of each

vars == <<messages, exists, status, said>>
core == <<messages, exists, status>>
View == core

Source == "source"
Destination == "destination"
Entities == {Source, Destination}
Statuses == {"active", "send-disabled", "receive-disabled", "disabled"}
Graves == {"dead-letter queue", "transfer dead-letter queue"}  \* of the source
Places == {"on the way", Destination, "received", "deleted"} \union Graves

Numbers == DOMAIN messages
In(place) == {n \in Numbers : messages[n].place = place}
(* MGMT-26, MGMT-27, MGMT-28 *)
Takes(e) == e \in exists /\ status[e] \in {"active", "receive-disabled"}
Gives(e) == e \in exists /\ status[e] \in {"active", "send-disabled"}
HasRoom == Cardinality(In(Destination)) < Capacity
GoesOn == Takes(Destination) /\ HasRoom

Init ==
  /\ messages = << >>
  /\ exists = {}
  /\ status = [e \in Entities |-> "active"]
  /\ said = Silence

-------------------------------------------------------------------------------------
CreateDestination ==
  /\ Destination \notin exists
  /\ exists' = exists \union {Destination}
  /\ status' = [status EXCEPT ![Destination] = "active"]
  /\ UNCHANGED messages
  /\ Says([op |-> "Create", queue |-> Destination], Done)

(* FWD-04 *)
CreateSource ==
  /\ Source \notin exists /\ Destination \in exists
  /\ exists' = exists \union {Source}
  /\ UNCHANGED <<messages, status>>
  /\ Says([op |-> "Create", queue |-> Source], Done)

(* FWD-29: neither at its creation nor by an update. *)
ForwardToNothingRefused ==
  /\ Destination \notin exists
  /\ UNCHANGED core
  /\ Says([op |-> IF Source \in exists THEN "Update" ELSE "Create", queue |-> Source],
          Refused(AnyError))

DeleteDestination ==
  /\ Destination \in exists
  /\ exists' = exists \ {Destination}
  /\ messages' = [n \in Numbers |->
       IF n \in In(Destination) THEN [messages[n] EXCEPT !.place = "deleted"] ELSE messages[n]]
  /\ UNCHANGED status
  /\ Says([op |-> "Delete", queue |-> Destination], Done)

(* MGMT-27: what it has stays. *)
SetStatus(e, new) ==
  /\ e \in exists /\ status[e] # new
  /\ status' = [status EXCEPT ![e] = new]
  /\ UNCHANGED <<messages, exists>>
  /\ Says([op |-> "SetStatus", queue |-> e, status |-> new], Done)

New(e) == [to |-> e, place |-> IF e = Source THEN "on the way" ELSE e,
           arrived |-> e = Destination]
Send(e) ==
  /\ Len(messages) < MaxMessages
  /\ Takes(e) /\ (e = Destination => HasRoom)
  /\ messages' = Append(messages, New(e))
  /\ UNCHANGED <<exists, status>>
  /\ Says([op |-> "Send", queue |-> e], Done)

(* MGMT-26 *)
SendDisabled(e) ==
  /\ e \in exists /\ ~Takes(e)
  /\ UNCHANGED core
  /\ \E op \in {"Send", "Schedule"} : Says([op |-> op, queue |-> e], Refused("entity-disabled"))

SendFull ==
  /\ Takes(Destination) /\ ~HasRoom
  /\ UNCHANGED core
  /\ Says([op |-> "Send", queue |-> Destination], Refused("quota-exceeded"))

Put(n, place) ==
  messages' = [messages EXCEPT ![n].place = place, ![n].arrived = @ \/ place = Destination]

(* FWD-04, FWD-19; FORWARD-FAILED: whether it is tried again, nobody says. *)
Forward(n) ==
  /\ n \in In("on the way") \union UNION {In(place) : place \in Graves}
  /\ GoesOn
  /\ Put(n, Destination)
  /\ UNCHANGED <<exists, status>>
  /\ Says([op |-> "Forward", message |-> n], Done)

(* FWD-19, FWD-20, FWD-21, FWD-32 (FORWARD-FAILED): in which of the two, pages differ. *)
Fail(n) ==
  /\ n \in In("on the way") /\ ~GoesOn
  /\ \E place \in Graves : Put(n, place)
  /\ UNCHANGED <<exists, status>>
  /\ Says([op |-> "Forward", message |-> n], Refused(AnyError))

Receiving(place) == [op |-> "Receive", from |-> place]

(* MGMT-27, MGMT-28 *)
Receive ==
  /\ Gives(Destination)
  /\ \E n \in In(Destination) : Put(n, "received") /\ Says(Receiving(Destination), Received(n))
  /\ UNCHANGED <<exists, status>>

ReceiveNothing ==
  /\ Gives(Destination) /\ In(Destination) = {}
  /\ UNCHANGED core
  /\ Says(Receiving(Destination), Empty)

(* MGMT-27 *)
ReceiveDisabled ==
  /\ Destination \in exists /\ ~Gives(Destination)
  /\ UNCHANGED core
  /\ Says(Receiving(Destination), Refused("entity-disabled"))

ReceiveDead(place) ==
  /\ \E n \in In(place) : Put(n, "received") /\ Says(Receiving(place), Received(n))
  /\ UNCHANGED <<exists, status>>

ReceiveDeadNothing(place) ==
  /\ Source \in exists /\ In(place) = {}
  /\ UNCHANGED core
  /\ Says(Receiving(place), Empty)

(* What a status is for dead letters, nobody says. *)
ReceiveDeadRefused(place) ==
  /\ Source \in exists /\ ~Gives(Source)
  /\ UNCHANGED core
  /\ Says(Receiving(place), Refused(AnyError))

Next ==
  \/ CreateDestination \/ CreateSource \/ ForwardToNothingRefused \/ DeleteDestination
  \/ \E e \in Suspended, new \in Statuses : SetStatus(e, new)
  \/ \E e \in Entities : Send(e) \/ SendDisabled(e)
  \/ SendFull
  \/ \E n \in 1..MaxMessages : Forward(n) \/ Fail(n)
  \/ Receive \/ ReceiveNothing \/ ReceiveDisabled
  \/ \E place \in Graves :
       ReceiveDead(place) \/ ReceiveDeadNothing(place) \/ ReceiveDeadRefused(place)

Spec == Init /\ [][Next]_vars
Fair == \A n \in 1..MaxMessages : WF_core(n \in In("on the way") /\ (Forward(n) \/ Fail(n)))
FairSpec == Spec /\ Fair

-------------------------------------------------------------------------------------
TypeOK ==
  /\ messages \in Seq([to : Entities, place : Places, arrived : BOOLEAN])
  /\ exists \subseteq Entities
  /\ status \in [Entities -> Statuses]

Of(op, e) == Asks(op) /\ said'.command.queue = e
From(place) == Asks("Receive") /\ said'.command.from = place

(* MGMT-26 *)
DisabledTakesNothing ==
  [][\A e \in Entities :
       (Of("Send", e) \/ Of("Schedule", e)) /\ status[e] \in {"send-disabled", "disabled"}
         => Refuses("entity-disabled") /\ core' = core]_vars

(* MGMT-27 *)
DisabledGivesNothing ==
  [][From(Destination) /\ status[Destination] \in {"receive-disabled", "disabled"}
       => Refuses("entity-disabled") /\ core' = core]_vars
WhatIsHeldStays == [][Asks("SetStatus") => messages' = messages]_vars
WhatIsHeldIsGiven == [][From(Destination) /\ Answers("Empty") => In(Destination) = {}]_vars

(* MGMT-28 *)
EachWorksForTheOther ==
  [][/\ \A e \in Entities : Of("Send", e) /\ status[e] = "receive-disabled"
          => Answers("Done") \/ Refuses("quota-exceeded")
     /\ From(Destination) /\ status[Destination] = "send-disabled" => ~Answers("Refused")]_vars

Moves(n, place) == messages[n].place # place /\ messages'[n].place = place

(* FWD-19 *)
DisabledIsForwardedNothing ==
  [][\A n \in Numbers : Moves(n, Destination)
       => status[Destination] \notin {"send-disabled", "disabled"}]_vars

(* FWD-20: deleted is only what had arrived. *)
DeletedHoldsNothing == Destination \notin exists => In(Destination) = {}
OnlyWhatArrivedIsDeleted == \A n \in In("deleted") : messages[n].arrived

(* FWD-21 *)
NoneIsOverfull == Cardinality(In(Destination)) <= Capacity

(* FWD-19, FWD-20, FWD-21: nothing is lost, nothing is doubled. *)
GoneIsWhatWasGiven ==
  [][\A n \in Numbers : Moves(n, "received") => Answers("Received") /\ said'.reply.message = n]_vars
GivenOnce ==
  [][Answers("Received") => messages[said'.reply.message].place = said'.command.from
       /\ messages'[said'.reply.message].place = "received"]_vars
GoneStaysGone ==
  [][\A n \in Numbers : messages[n].place \in {"received", "deleted"}
       => messages'[n] = messages[n]]_vars
SentIsKept == [][Len(messages') >= Len(messages)]_vars
NothingGoesBack ==
  [][\A n \in Numbers : ~Moves(n, "on the way")]_vars

(* FWD-32 *)
TransfersAreOfWhatCouldNotGoOn ==
  \A n \in In("transfer dead-letter queue") : messages[n].to = Source /\ ~messages[n].arrived
FailedForACause ==
  [][\A n \in Numbers : \A place \in Graves : Moves(n, place) =>
       \/ Destination \notin exists
       \/ status[Destination] \in {"send-disabled", "disabled"}
       \/ Cardinality(In(Destination)) >= Capacity]_vars

(* FWD-29 *)
SourcesNeedADestination ==
  [][(Of("Create", Source) \/ Of("Update", Source)) /\ Destination \notin exists
       => Answers("Refused") /\ core' = core]_vars

(* FWD-04, FWD-19, FWD-20, FWD-21 *)
NothingStaysOnTheWay ==
  \A n \in 1..MaxMessages :
    (n \in Numbers /\ messages[n].place = "on the way")
      ~> (n \in Numbers /\ messages[n].place # "on the way")

NeverDeadForTheStatus ==
  [][\A n \in Numbers : Asks("Forward") /\ Answers("Refused") =>
       status[Destination] \in {"active", "receive-disabled"}]_vars
NeverDeadForADeletion ==
  [][Asks("Forward") /\ Answers("Refused") => Destination \in exists]_vars
NeverDeadForWantOfRoom ==
  [][Asks("Forward") /\ Answers("Refused") => Cardinality(In(Destination)) < Capacity]_vars
NeverTriedAgain ==
  [][\A n \in Numbers : Moves(n, Destination) => messages[n].place = "on the way"]_vars
NeverGivenAfterItWasDisabled ==
  [][From(Destination) /\ Answers("Received") => status[Destination] # "send-disabled"]_vars
NeverRefusedForNoDestination == [][Of("Create", Source) => Answers("Done")]_vars
=====================================================================================
