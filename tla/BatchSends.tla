-------------------------------- MODULE BatchSends --------------------------------
(* Several messages in one request: all of them are taken, or none. A message is its  *)
(* key and its MessageId, and takes one unit of room; a batch is a sequence of them.  *)
EXTENDS Vocabulary

CONSTANTS
  Partitions,   \* one of a regular entity
  Keys,         \* keys of messages, None among them if there are messages without
  Leading,      \* those that lead to partition 0, the others lead to 1
  Ids,          \* MessageIds
  Detects,      \* whether copies are detected
  MaxBatches,
  Longest,      \* messages of the longest batch that is sent
  Limit,        \* messages of the largest batch that is taken
  Capacity      \* messages that there is room for

VARIABLES
  stored,  \* as they arrived: key, id, partition, batch, place, there
  taken,   \* the batches that were accepted, copies among them
  open,    \* whether a transaction is
  staged,  \* the batch that was sent in it
  undone,  \* the MessageIds of one that was rolled back
  up

vars == <<stored, taken, open, staged, undone, up, said>>
core == <<stored, taken, open, staged, undone, up>>
View == core

Numbers == DOMAIN stored
Partitioned == Cardinality(Partitions) > 1
Outage == up # Partitions
Messages == [key : Keys, id : Ids]
Place(key) == IF key \in Leading THEN 0 ELSE 1
Offered == UNION {[1..length -> Messages] : length \in 2..Longest}

KeysOf(batch) == {batch[i].key : i \in DOMAIN batch}
SeveralKeys(batch) == Cardinality(KeysOf(batch)) > 1
Led(batch) == {Place(key) : key \in KeysOf(batch) \ {None}}

(* BATCH-09, DUP-05, DUP-10: what neither came before nor stands twice, whatever its key. *)
Remembered == IF Detects THEN {stored[n].id : n \in Numbers} ELSE {}
IsFresh(batch, i) ==
  /\ batch[i].id \notin Remembered
  /\ Detects => \A j \in 1..(i - 1) : batch[j].id # batch[i].id
Fresh(batch) == Ascending({i \in DOMAIN batch : IsFresh(batch, i)})

Fits(batch) == Len(batch) <= Limit
There == {n \in Numbers : stored[n].there}
HasRoom(batch, more) == Cardinality(There) + more + Len(Fresh(batch)) <= Capacity
Reachable(batch) == up # {} /\ Led(batch) \subseteq up

(* BATCH-03, BATCH-04: in their order, each where its key leads. *)
Arrived(batch, p) ==
  LET fresh == Fresh(batch) IN
    [k \in DOMAIN fresh |->
       LET m == batch[fresh[k]] IN
         [key |-> m.key, id |-> m.id, batch |-> Len(taken) + 1, place |-> fresh[k], there |-> TRUE,
          partition |-> IF m.key = None THEN p ELSE Place(m.key)]]

Init ==
  /\ stored = << >> /\ taken = << >>
  /\ open = FALSE /\ staged = << >> /\ undone = {}
  /\ up = Partitions
  /\ said = Silence

------------------------------------------------------------------------------------
Sending(op, batch) == [op |-> op, messages |-> batch]

(* BATCH-01, BATCH-05, BATCH-06, FEAT-06: with several keys a partitioned entity may take it. *)
SendBatch(batch) ==
  /\ Fits(batch) /\ HasRoom(batch, Len(staged)) /\ Reachable(batch)
  /\ \E p \in up : stored' = stored \o Arrived(batch, p)
  /\ taken' = Append(taken, batch)
  /\ UNCHANGED <<open, staged, undone, up>>
  /\ Says(Sending("SendBatch", batch), Done)

(* BATCH-02 *)
Turned(batch, error) == UNCHANGED core /\ Says(Sending("SendBatch", batch), Refused(error))

(* BATCH-07 *)
SendBatchTooLarge(batch) == ~Fits(batch) /\ Turned(batch, "message-too-large")
(* BATCH-10; whether what waits for a commit takes room, nobody says. *)
SendBatchFull(batch) == ~HasRoom(batch, 0) /\ Turned(batch, "quota-exceeded")
(* BATCH-11 *)
SendBatchInOutage(batch) == ~Reachable(batch) /\ Turned(batch, AnyError)
(* BATCH-05 (BATCH-KEYS) *)
SendBatchOfSeveral(batch) ==
  Partitioned /\ SeveralKeys(batch) /\ Turned(batch, "invalid-operation")

Begin ==
  /\ ~open /\ undone = {}
  /\ open' = TRUE
  /\ UNCHANGED <<stored, taken, staged, undone, up>>
  /\ Says([op |-> "Begin"], Done)

(* BATCH-08, DUP-11; what several keys are in a transaction, Transactions.tla says. *)
SendBatchInTransaction(batch) ==
  /\ open /\ staged = << >> /\ ~SeveralKeys(batch)
  /\ Fits(batch) /\ HasRoom(batch, 0) /\ Reachable(batch)
  /\ staged' = batch
  /\ UNCHANGED <<stored, taken, open, undone, up>>
  /\ Says(Sending("SendBatchInTransaction", batch), Done)

(* BATCH-08, DUP-11: what an outage makes of a commit, Transactions.tla says. *)
Commit ==
  /\ open /\ (staged # << >> => Reachable(staged))
  /\ \E p \in up : stored' = stored \o Arrived(staged, p)
  /\ taken' = IF staged = << >> THEN taken ELSE Append(taken, staged)
  /\ open' = FALSE /\ staged' = << >>
  /\ UNCHANGED <<undone, up>>
  /\ Says([op |-> "Commit"], Done)

(* BATCH-08, DUP-10: nothing of it is remembered. *)
Rollback ==
  /\ open
  /\ open' = FALSE /\ staged' = << >>
  /\ undone' = {staged[i].id : i \in DOMAIN staged}
  /\ UNCHANGED <<stored, taken, up>>
  /\ Says([op |-> "Rollback"], Done)

Earlier(n) == {m \in There : m < n /\ stored[m].key = stored[n].key}
Foremost == {n \in There : stored[n].key # None => Earlier(n) = {}}

(* BATCH-01, BATCH-03: of a key the first. *)
Receive ==
  /\ \E n \in Foremost :
       /\ stored[n].partition \in up
       /\ stored' = [stored EXCEPT ![n].there = FALSE]
       /\ Says([op |-> "Receive"], Received(n))
  /\ UNCHANGED <<taken, open, staged, undone, up>>

ReceiveNothing ==
  /\ Outage \/ There = {}
  /\ UNCHANGED core
  /\ Says([op |-> "Receive"], Empty)

TakePartitionDown(p) ==
  /\ Partitioned /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED <<stored, taken, open, staged, undone>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED <<stored, taken, open, staged, undone>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Again == Len(taken) + (IF staged = << >> THEN 0 ELSE 1) < MaxBatches

Next ==
  \/ \E batch \in Offered :
       \/ Again /\ (SendBatch(batch) \/ SendBatchInTransaction(batch))
       \/ SendBatchTooLarge(batch) \/ SendBatchFull(batch)
       \/ SendBatchInOutage(batch) \/ SendBatchOfSeveral(batch)
  \/ Begin \/ Commit \/ Rollback
  \/ Receive \/ ReceiveNothing
  \/ \E p \in Partitions : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------------
TypeOK ==
  /\ stored \in Seq([key : Keys, id : Ids, partition : Partitions,
                     batch : DOMAIN taken, place : 1..Longest, there : BOOLEAN])
  /\ \A b \in DOMAIN taken : taken[b] \in Offered
  /\ open \in BOOLEAN /\ undone \subseteq Ids
  /\ staged = << >> \/ (open /\ staged \in Offered)
  /\ up \subseteq Partitions

Stands(n, b, i) == stored[n].batch = b /\ stored[n].place = i
Before(c, j, b, i) == c < b \/ (c = b /\ j < i)
Has(b, i) == \E n \in Numbers : Stands(n, b, i) /\ stored[n].key = taken[b][i].key
CameBefore(b, i) ==
  /\ Detects
  /\ \E c \in 1..b : \E j \in DOMAIN taken[c] :
       Before(c, j, b, i) /\ taken[c][j].id = taken[b][i].id

(* BATCH-01, BATCH-09, FEAT-06, DUP-10: whatever is no copy arrives. *)
WhatIsTakenIsWhole ==
  \A b \in DOMAIN taken : \A i \in DOMAIN taken[b] : CameBefore(b, i) \/ Has(b, i)
(* BATCH-09, DUP-05, DUP-11 *)
CopiesAreDropped ==
  \A b \in DOMAIN taken : \A i \in DOMAIN taken[b] :
    CameBefore(b, i) => \A n \in Numbers : ~Stands(n, b, i)

(* BATCH-03 *)
BatchesKeepTheirOrder ==
  \A m, n \in Numbers : m < n => Before(stored[m].batch, stored[m].place,
                                        stored[n].batch, stored[n].place)
(* BATCH-03 *)
KeysAreReceivedInOrder ==
  [][(Asks("Receive") /\ Answers("Received")) =>
       LET got == stored[said'.reply.message] IN
         \A n \in Numbers : (stored[n].there /\ stored[n].key = got.key /\ got.key # None)
           => ~Before(stored[n].batch, stored[n].place, got.batch, got.place)]_vars

(* BATCH-04 *)
KeysLead == \A n \in Numbers : stored[n].key # None => stored[n].partition = Place(stored[n].key)

(* BATCH-07 *)
NoneIsTooLarge == \A b \in DOMAIN taken : Len(taken[b]) <= Limit
LargeOnesAreRefused ==
  [][Asks("SendBatch") /\ Len(said'.command.messages) > Limit => Answers("Refused")]_vars

(* BATCH-10 *)
ThereWasRoom == Cardinality(There) <= Capacity

(* BATCH-02, BATCH-10, BATCH-11 *)
RefusedLeaveNothing == [][Answers("Refused") => core' = core]_vars

(* BATCH-11 *)
KeysNeedTheirPartition ==
  [][Asks("SendBatch") /\ Answers("Done") =>
       \A i \in DOMAIN said'.command.messages :
         LET key == said'.command.messages[i].key IN key # None => Place(key) \in up]_vars

IsNew(batch, i) ==
  /\ \A n \in Numbers : stored[n].id # batch[i].id
  /\ \A j \in DOMAIN batch : j < i => batch[j].id # batch[i].id
(* BATCH-06, FEAT-06: without cause none is refused. *)
RefusedForACause ==
  [][(Asks("SendBatch") /\ Answers("Refused") /\ up = Partitions) =>
       LET batch == said'.command.messages IN
         \/ Len(batch) > Limit
         \/ Cardinality(There) + Cardinality({i \in DOMAIN batch : Detects => IsNew(batch, i)})
              > Capacity
         \/ Partitioned /\ \E i, j \in DOMAIN batch : batch[i].key # batch[j].key]_vars

(* BATCH-08 *)
NothingBeforeTheCommit == [][Asks("SendBatchInTransaction") => stored' = stored]_vars
(* BATCH-08, DUP-10 *)
NothingAfterARollback == [][Asks("Rollback") => stored' = stored /\ taken' = taken]_vars
CommitsBringAll ==
  [][Asks("Commit") /\ staged # << >> => taken' = Append(taken, staged)]_vars

(* BATCH-01, FEAT-06 *)
WhatIsThereIsGiven ==
  [][Answers("Empty") /\ ~Outage => There = {}]_vars
NothingGoesUnseen ==
  [][\A n \in Numbers : stored[n].there /\ ~stored'[n].there =>
       Asks("Receive") /\ said'.reply = Received(n)]_vars

NeverTooLarge == [][~Refuses("message-too-large")]_vars
NeverFullBesideRoom ==
  [][Refuses("quota-exceeded") =>
       Cardinality(There) = Capacity \/ Len(said'.command.messages) > Capacity]_vars
NeverSeveralKeysTaken ==
  [][Asks("SendBatch") /\ Answers("Done") => Cardinality({said'.command.messages[i].key :
       i \in DOMAIN said'.command.messages}) = 1]_vars
NeverACopy == \A b \in DOMAIN taken : \A i \in DOMAIN taken[b] : ~CameBefore(b, i)
NeverCommitted == [][Asks("Commit") => staged = << >>]_vars
NeverSentAgain ==
  [][(Asks("SendBatch") /\ Answers("Done")) => \A i \in DOMAIN said'.command.messages :
       said'.command.messages[i].id \notin undone]_vars
====================================================================================
