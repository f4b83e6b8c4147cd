---------------------------------- MODULE Suspension ---------------------------------
(* A queue that may be disabled, deleted or full, and a source that forwards to it.      *)
(* What cannot go on is among the dead letters of the source, in whichever of its two    *)
(* places (FORWARD-FAILED); whether it is tried again is not said, and here it is not.   *)
EXTENDS Vocabulary

CONSTANTS
  Messages,   \* what is sent, each at most once
  Room        \* how many messages the queue has room for

VARIABLES
  status,     \* for whom the queue is disabled
  there,      \* whether it exists
  held,       \* what it holds
  way,        \* what the source is to forward
  stranded,   \* what could not go on
  gone        \* what was received, or deleted with the queue

vars == <<status, there, held, way, stranded, gone, said>>
core == <<status, there, held, way, stranded, gone>>
View == core

Statuses == {"active", "disabled", "send-disabled", "receive-disabled"}
Takes == status \in {"active", "receive-disabled"}
Gives == status \in {"active", "send-disabled"}
Fresh == Messages \ (held \union way \union stranded \union gone)
HasRoom == Cardinality(held) < Room
CanGoOn == there /\ Takes /\ HasRoom

Init ==
  /\ status = "active" /\ there = TRUE
  /\ held = {} /\ way = {} /\ stranded = {} /\ gone = {}
  /\ said = Silence

-------------------------------------------------------------------------------------
(* MGMT-27 *)
SetStatus(next) ==
  /\ there /\ next # status
  /\ status' = next
  /\ UNCHANGED <<there, held, way, stranded, gone>>
  /\ Says([op |-> "UpdateQueue", status |-> next], Done)

(* MGMT-28 *)
Send(message) ==
  /\ message \in Fresh /\ there /\ Takes /\ HasRoom
  /\ held' = held \union {message}
  /\ UNCHANGED <<status, there, way, stranded, gone>>
  /\ Says([op |-> "Send", message |-> message], Done)

(* MGMT-26 *)
SendRefused(message) ==
  /\ message \in Fresh /\ there /\ ~Takes
  /\ UNCHANGED core
  /\ Says([op |-> "Send", message |-> message], Refused("entity-disabled"))

(* MGMT-28 *)
Receive(message) ==
  /\ message \in held /\ Gives
  /\ held' = held \ {message} /\ gone' = gone \union {message}
  /\ UNCHANGED <<status, there, way, stranded>>
  /\ Says([op |-> "Receive"], Received(message))

(* MGMT-27 *)
ReceiveRefused ==
  /\ there /\ ~Gives
  /\ UNCHANGED core
  /\ Says([op |-> "Receive"], Refused("entity-disabled"))

SendToSource(message) ==
  /\ message \in Fresh
  /\ way' = way \union {message}
  /\ UNCHANGED <<status, there, held, stranded, gone>>
  /\ Says([op |-> "SendToSource", message |-> message], Done)

(* FWD-19 *)
Arrive(message) ==
  /\ message \in way /\ CanGoOn
  /\ way' = way \ {message} /\ held' = held \union {message}
  /\ UNCHANGED <<status, there, stranded, gone>>
  /\ Says([op |-> "Arrive", message |-> message], Done)

(* FWD-19, FWD-20, FWD-21 *)
Strand(message) ==
  /\ message \in way /\ ~CanGoOn
  /\ way' = way \ {message} /\ stranded' = stranded \union {message}
  /\ UNCHANGED <<status, there, held, gone>>
  /\ Says([op |-> "Strand", message |-> message], Done)

(* FWD-32 *)
ReceiveStranded(message) ==
  /\ message \in stranded
  /\ stranded' = stranded \ {message} /\ gone' = gone \union {message}
  /\ UNCHANGED <<status, there, held, way>>
  /\ Says([op |-> "ReceiveStranded"], Received(message))

Delete ==
  /\ there
  /\ there' = FALSE /\ status' = "active" /\ held' = {} /\ gone' = gone \union held
  /\ UNCHANGED <<way, stranded>>
  /\ Says([op |-> "DeleteQueue"], Done)

CreateAgain ==
  /\ ~there
  /\ there' = TRUE
  /\ UNCHANGED <<status, held, way, stranded, gone>>
  /\ Says([op |-> "CreateQueue"], Done)

Next ==
  \/ \E next \in Statuses : SetStatus(next)
  \/ \E message \in Messages :
       \/ Send(message) \/ SendRefused(message) \/ Receive(message)
       \/ SendToSource(message) \/ Arrive(message) \/ Strand(message)
       \/ ReceiveStranded(message)
  \/ ReceiveRefused \/ Delete \/ CreateAgain

Spec == Init /\ [][Next]_vars

-------------------------------------------------------------------------------------
TypeOK ==
  /\ status \in Statuses /\ there \in BOOLEAN
  /\ \A each \in {held, way, stranded, gone} : each \subseteq Messages

InOnePlace ==
  Cardinality(held) + Cardinality(way) + Cardinality(stranded) + Cardinality(gone)
    = Cardinality(held \union way \union stranded \union gone)

(* FWD-21 *)
NothingOverflows == Cardinality(held) <= Room

(* MGMT-26, FWD-19 *)
DisabledTakesNothing ==
  [][(status \in {"disabled", "send-disabled"}) => (held' \subseteq held)]_vars

(* MGMT-26 *)
RefusedNeverArrives == [][Answers("Refused") => (UNCHANGED core)]_vars

(* MGMT-27 *)
DisabledGivesNothing ==
  [][(Asks("Receive") /\ status \in {"disabled", "receive-disabled"}) => Answers("Refused")]_vars

(* MGMT-27 *)
DisablingKeepsAll == [][Asks("UpdateQueue") => (held' = held)]_vars

(* MGMT-28 *)
TheOthersAreServed ==
  [][/\ (Asks("Send") /\ status \in {"active", "receive-disabled"}) => Answers("Done")
     /\ (Asks("Receive") /\ status \in {"active", "send-disabled"}) => Answers("Received")]_vars

(* FWD-19, FWD-20, FWD-21 *)
NothingIsLost ==
  [][\A message \in way : message \in (way' \union held' \union stranded')]_vars

(* FWD-32 *)
OnlyWhatCannotGoOn ==
  [][\A message \in stranded' \ stranded :
       /\ message \in way
       /\ ~(there /\ status \in {"active", "receive-disabled"} /\ Cardinality(held) < Room)]_vars

NeverStranded == stranded = {}
NeverDisabled == [][Asks("Send") => Answers("Done")]_vars
NeverKept == [][Asks("Receive") => Answers("Received")]_vars
NeverWithoutDestination == ~(stranded # {} /\ ~there)
NeverFull == ~(stranded # {} /\ Cardinality(held) = Room)
=====================================================================================
