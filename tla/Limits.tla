----------------------------------- MODULE Limits -----------------------------------
(* What a namespace takes of single requests, and what it refuses as too much. Of a     *)
(* size this knows only between which limits it lies, of a key only whether it is too   *)
(* long. A transaction takes as many messages as a constant says, for the hundred.      *)
EXTENDS Vocabulary

CONSTANTS
  Tiers,
  MaxStaged     \* how many messages a transaction takes

VARIABLES
  tier,
  kept,         \* the last message that was taken and not received yet, or none
  planned,      \* the last one that is to come later, or none
  staged,       \* what was sent in the transaction
  running,      \* whether the transaction goes on
  named,        \* the lengths of the names of what was created
  stored        \* how large what is stored with a session is; 0 for nothing

vars == <<tier, kept, planned, staged, running, named, stored, said>>
core == <<tier, kept, planned, staged, running, named, stored>>
View == core

(* A size is 1 up to 256 KB, 2 up to 1 MB, 3 up to 100 MB, and 4 beyond. *)
Sizes == 1..4
Parts == {"message-id", "session-id", "partition-key", "property", "properties"}
Messages == [size : Sizes, beyond : Parts \union {None}]
Lengths == {"longest", "too-long"}
Nothing == [size |-> 0, beyond |-> None]

IsTaken(message) ==  \* surely
  message.beyond = None /\ message.size <= (IF tier = "premium" THEN 2 ELSE 1)
IsRefused(message) ==  \* surely
  message.beyond # None \/ message.size > (IF tier = "premium" THEN 3 ELSE 1)

Init ==
  /\ tier \in Tiers
  /\ kept = Nothing /\ planned = Nothing
  /\ staged = << >> /\ running = TRUE
  /\ named = {} /\ stored = 0
  /\ said = Silence

-------------------------------------------------------------------------------------
(* LIMIT-01, LIMIT-03, LIMIT-05, LIMIT-07, LIMIT-09, LIMIT-11 *)
Send(message) ==
  /\ ~IsRefused(message)
  /\ kept' = message
  /\ UNCHANGED <<tier, planned, staged, running, named, stored>>
  /\ Says([op |-> "Send", message |-> message], Done)

(* LIMIT-02, LIMIT-04, LIMIT-05, LIMIT-08, LIMIT-10, LIMIT-12, LIMIT-13, LIMIT-14 *)
SendRefused(message) ==
  /\ ~IsTaken(message)
  /\ UNCHANGED core
  /\ Says([op |-> "Send", message |-> message], Refused(AnyError))

Receive ==
  /\ kept # Nothing
  /\ kept' = Nothing
  /\ UNCHANGED <<tier, planned, staged, running, named, stored>>
  /\ Says([op |-> "Receive"], Received(kept))

(* LIMIT-06 *)
Schedule(message) ==
  /\ ~IsRefused(message)
  /\ planned' = message
  /\ UNCHANGED <<tier, kept, staged, running, named, stored>>
  /\ Says([op |-> "Schedule", message |-> message], Done)

(* LIMIT-06, LIMIT-08, LIMIT-10, LIMIT-12 *)
ScheduleRefused(message) ==
  /\ ~IsTaken(message)
  /\ UNCHANGED core
  /\ Says([op |-> "Schedule", message |-> message], Refused(AnyError))

Activate ==
  /\ planned # Nothing
  /\ kept' = planned /\ planned' = Nothing
  /\ UNCHANGED <<tier, staged, running, named, stored>>
  /\ Says([op |-> "AdvanceClock"], Done)

(* LIMIT-15 *)
SendInTransaction(message) ==
  /\ running /\ Len(staged) < MaxStaged /\ ~IsRefused(message)
  /\ staged' = Append(staged, message)
  /\ UNCHANGED <<tier, kept, planned, running, named, stored>>
  /\ Says([op |-> "SendInTransaction", message |-> message], Done)

(* LIMIT-16, LIMIT-21: the transaction may go on or be dead (TXN-AFTER-REFUSAL). *)
SendInTransactionRefused(message) ==
  /\ running /\ (Len(staged) >= MaxStaged \/ ~IsTaken(message))
  /\ \/ UNCHANGED core
     \/ running' = FALSE /\ UNCHANGED <<tier, kept, planned, staged, named, stored>>
  /\ Says([op |-> "SendInTransaction", message |-> message], Refused(AnyError))

Commit ==
  /\ running /\ staged # << >>
  /\ kept' = staged[Len(staged)] /\ staged' = << >>
  /\ UNCHANGED <<tier, planned, running, named, stored>>
  /\ Says([op |-> "CommitTransaction"], Done)

(* LIMIT-17, TOPIC-17, FILTER-26: a name of whatever has one, as long as that kind may be. *)
Create(length) ==
  /\ length = "longest" /\ length \notin named
  /\ named' = named \union {length}
  /\ UNCHANGED <<tier, kept, planned, staged, running, stored>>
  /\ Says([op |-> "CreateQueue", length |-> length], Done)

(* LIMIT-18, TOPIC-18, FILTER-27 *)
CreateRefused(length) ==
  /\ length = "too-long"
  /\ UNCHANGED core
  /\ Says([op |-> "CreateQueue", length |-> length], Refused(AnyError))

(* LIMIT-19 *)
SetState(size) ==
  /\ size <= 1 \/ tier = "premium"
  /\ stored' = size
  /\ UNCHANGED <<tier, kept, planned, staged, running, named>>
  /\ Says([op |-> "SetSessionState", size |-> size], Done)

(* LIMIT-20 *)
SetStateRefused(size) ==
  /\ size > (IF tier = "premium" THEN 2 ELSE 1)
  /\ UNCHANGED core
  /\ Says([op |-> "SetSessionState", size |-> size], Refused(AnyError))

Next ==
  \/ \E message \in Messages :
       \/ Send(message) \/ SendRefused(message)
       \/ Schedule(message) \/ ScheduleRefused(message)
       \/ SendInTransaction(message) \/ SendInTransactionRefused(message)
  \/ Receive \/ Activate \/ Commit
  \/ \E length \in Lengths : Create(length) \/ CreateRefused(length)
  \/ \E size \in Sizes : SetState(size) \/ SetStateRefused(size)

Spec == Init /\ [][Next]_vars

-------------------------------------------------------------------------------------
Held == {kept, planned} \union {staged[place] : place \in DOMAIN staged}

TypeOK ==
  /\ tier \in {"standard", "premium"} /\ running \in BOOLEAN
  /\ Held \subseteq Messages \union {Nothing}
  /\ named \subseteq Lengths /\ stored \in 0..4

(* LIMIT-02, LIMIT-06, LIMIT-21 *)
NothingLargerIsHeld == tier = "standard" => \A message \in Held : message.size <= 1

(* LIMIT-04, LIMIT-06, LIMIT-21 *)
NothingHugeIsHeld == \A message \in Held : message.size < 4

(* LIMIT-08, LIMIT-10, LIMIT-12, LIMIT-13, LIMIT-14 *)
NoPartIsTooLarge == \A message \in Held : message.beyond = None

(* LIMIT-16 *)
NoTransactionIsTooLong == Len(staged) <= MaxStaged

(* LIMIT-18, TOPIC-18, FILTER-27 *)
NoNameIsTooLong == "too-long" \notin named

(* LIMIT-20 *)
NoStateIsTooLarge == tier = "standard" => stored <= 1

(* LIMIT-01, LIMIT-03, LIMIT-07, LIMIT-09, LIMIT-11 *)
WhatIsWithinIsTaken ==
  [][( /\ Asks("Send") \/ Asks("Schedule")
       /\ said'.command.message.beyond = None
       /\ said'.command.message.size <= (IF tier = "premium" THEN 2 ELSE 1) )
     => Answers("Done")]_vars

(* LIMIT-15 *)
TransactionsTakeSoMany ==
  [][(Asks("SendInTransaction") /\ said'.command.message = [size |-> 1, beyond |-> None]
      /\ Len(staged) < MaxStaged) => Answers("Done")]_vars

(* LIMIT-17, LIMIT-19, TOPIC-17, FILTER-26 *)
LongestNamesAndSmallStatesAreTaken ==
  [][/\ (Asks("CreateQueue") /\ said'.command.length = "longest") => Answers("Done")
     /\ (Asks("SetSessionState") /\ said'.command.size = 1) => Answers("Done")]_vars

(* LIMIT-02, LIMIT-20 *)
RefusalsLeaveNothing ==
  [][Answers("Refused") => UNCHANGED <<tier, kept, planned, staged, named, stored>>]_vars

NeverTooLarge == [][Asks("Send") => Answers("Done")]_vars
NeverTooLong == [][Asks("CreateQueue") => Answers("Done")]_vars
NeverTooMany ==
  [][(Asks("SendInTransaction") /\ said'.command.message = [size |-> 1, beyond |-> None])
     => Answers("Done")]_vars
NeverEither ==
  [][(Asks("Send") /\ said'.command.message.size = 3) => Answers("Refused")]_vars
=====================================================================================
