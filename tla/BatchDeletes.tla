------------------------------- MODULE BatchDeletes -------------------------------
(* Several messages deleted in one request, without being received: some of those     *)
(* that are neither locked nor too new. A moment is how many messages came before it. *)
EXTENDS Vocabulary

CONSTANTS
  Partitioned,  \* whether the entity is: then it may be refused
  Counts,       \* how many messages are asked for
  Limit,        \* of these, the most that one request may ask for
  MaxMessages

VARIABLES messages  \* in the order of their coming: there, locked or gone

vars == <<messages, said>>
core == messages
View == core

Numbers == DOMAIN messages
In(place) == {n \in Numbers : messages[n] = place}

Init ==
  /\ messages = << >>
  /\ said = Silence

------------------------------------------------------------------------------------
Send ==
  /\ Len(messages) < MaxMessages
  /\ messages' = Append(messages, "there")
  /\ Says([op |-> "Send"], Done)

Receive(n) ==
  /\ n \in In("there")
  /\ messages' = [messages EXCEPT ![n] = "locked"]
  /\ Says([op |-> "Receive"], Received(n))

Settle(op, n) ==
  /\ n \in In("locked")
  /\ messages' = [messages EXCEPT ![n] = IF op = "Complete" THEN "gone" ELSE "there"]
  /\ Says([op |-> op, message |-> n], Done)

Deleting(count, before) == [op |-> "DeleteBatch", count |-> count, before |-> before]

(* BATCH-15, BATCH-16, BATCH-17, BATCH-18: which of them, and whether all, is left open. *)
DeleteBatch(count, before) ==
  \E gone \in SUBSET {n \in In("there") : n <= before} :
    /\ Cardinality(gone) <= count
    /\ messages' = [n \in Numbers |-> IF n \in gone THEN "gone" ELSE messages[n]]
    /\ Says(Deleting(count, before), [type |-> "Deleted", count |-> Cardinality(gone)])

(* BATCH-19 (DELETE-PARTITIONED), BATCH-20 *)
DeleteBatchRefused(count, before) ==
  /\ Partitioned \/ count > Limit
  /\ UNCHANGED core
  /\ Says(Deleting(count, before), Refused(AnyError))

Next ==
  \/ Send
  \/ \E n \in Numbers : Receive(n) \/ \E op \in {"Complete", "Abandon"} : Settle(op, n)
  \/ \E count \in Counts, before \in 0..MaxMessages :
       DeleteBatch(count, before) \/ DeleteBatchRefused(count, before)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------------
TypeOK == messages \in Seq({"there", "locked", "gone"})

Deletes == Asks("DeleteBatch") /\ Answers("Deleted")
Lost == {n \in Numbers : messages'[n] # messages[n]}

(* BATCH-15 *)
NoMoreThanWasAskedFor == [][Deletes => said'.reply.count <= said'.command.count]_vars
AsManyAsAreTold == [][Deletes => Cardinality(Lost) = said'.reply.count]_vars
(* BATCH-16 *)
WhatIsLockedStays == [][Deletes => Lost \cap In("locked") = {}]_vars
(* BATCH-17 *)
WhatCameLaterStays == [][Deletes => \A n \in Lost : n <= said'.command.before]_vars
RefusedLeaveNothing == [][Answers("Refused") => core' = core]_vars

NeverFewerThanThereAre ==
  [][Deletes => said'.reply.count = AtMost(said'.command.count,
       Cardinality({n \in In("there") : n <= said'.command.before}))]_vars
NeverBesideALockedOne == [][Deletes /\ Lost # {} => In("locked") = {}]_vars
====================================================================================
