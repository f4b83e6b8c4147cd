------------------------------- MODULE BatchReceives -------------------------------
(* Several messages given to one request: some of what is there, each with a lock of  *)
(* its own, and several deferred ones by their numbers. What an outage is for those   *)
(* who receive, PartitionedEntity.tla and Settlement.tla say.                         *)
EXTENDS Vocabulary

CONSTANTS
  Partitions,   \* one of a regular entity
  Keys,         \* keys of messages, None among them if there are messages without
  Leading,      \* those that lead to partition 0, the others lead to 1
  Counts,       \* how many are asked for
  MaxMessages,
  MaxLocks      \* how many locks are given in all

VARIABLES
  messages,  \* as sent: key, partition, place, and its lock or 0
  issued     \* how many locks were given

vars == <<messages, issued, said>>
core == <<messages, issued>>
View == core

Numbers == DOMAIN messages
Free(place) == {n \in Numbers : messages[n].place = place /\ messages[n].lock = 0}
Locked == {n \in Numbers : messages[n].lock # 0}
Among(line) == {line[i] : i \in DOMAIN line}

Init ==
  /\ messages = << >> /\ issued = 0
  /\ said = Silence

------------------------------------------------------------------------------------
Send(key) ==
  /\ Len(messages) < MaxMessages
  /\ \E p \in Partitions :
       /\ key # None => p = (IF key \in Leading THEN 0 ELSE 1)
       /\ messages' = Append(messages, [key |-> key, partition |-> p, place |-> "there", lock |-> 0])
       /\ Says([op |-> "Send", key |-> key], DoneIn(p))
  /\ UNCHANGED issued

(* BATCH-14: each lock is another. *)
Given(line) ==
  /\ issued + Len(line) <= MaxLocks
  /\ issued' = issued + Len(line)
  /\ messages' = [n \in Numbers |->
       IF n \in Among(line)
       THEN [messages[n] EXCEPT !.lock = issued + CHOOSE i \in DOMAIN line : line[i] = n]
       ELSE messages[n]]

(* BATCH-13: of a key those that were sent first, and in that order. *)
Before(n) ==
  {m \in Free("there") : m < n /\ messages[m].key = messages[n].key /\ messages[n].key # None}
IsInOrder(line) ==
  /\ \A i, j \in DOMAIN line : i # j => line[i] # line[j]
  /\ \A j \in DOMAIN line : Before(line[j]) \subseteq {line[i] : i \in 1..(j - 1)}
Lines(count) ==
  UNION {{line \in [1..length -> Free("there")] : IsInOrder(line)} : length \in 1..count}

Several(line) == [type |-> "ReceivedSeveral", messages |-> line]

(* BATCH-12, BATCH-13, BATCH-14, FEAT-07: from whichever partitions, and not always all. *)
ReceiveBatch(count) ==
  \E line \in Lines(count) :
    /\ Given(line)
    /\ Says([op |-> "ReceiveBatch", count |-> count], Several(line))

(* FEAT-07 *)
ReceiveBatchNothing(count) ==
  /\ Free("there") = {}
  /\ UNCHANGED core
  /\ Says([op |-> "ReceiveBatch", count |-> count], Empty)

(* DEFER-11: those of several partitions may be given, and need not. *)
ReceiveNumbers(numbers) ==
  /\ numbers # {} /\ numbers \subseteq Free("deferred")
  /\ Given(Ascending(numbers))
  /\ Says([op |-> "ReceiveNumbers", numbers |-> numbers], Several(Ascending(numbers)))

PartitionsOf(numbers) == {messages[n].partition : n \in numbers}
ReceiveNumbersRefused(numbers) ==
  /\ numbers \subseteq Free("deferred") /\ Cardinality(PartitionsOf(numbers)) > 1
  /\ UNCHANGED core
  /\ Says([op |-> "ReceiveNumbers", numbers |-> numbers], Refused(AnyError))

(* BATCH-14: one, and no other. *)
Settle(op, n) ==
  /\ n \in Locked
  /\ messages' = [messages EXCEPT ![n].lock = 0,
       ![n].place = CASE op = "Complete" -> "gone" [] op = "Defer" -> "deferred" [] OTHER -> @]
  /\ UNCHANGED issued
  /\ Says([op |-> op, message |-> n, lock |-> messages[n].lock], Done)

Apart(numbers) == \E m, n \in numbers : messages[m].partition # messages[n].partition
Together(op, numbers) == [op |-> "SettleTogether", how |-> op, messages |-> numbers]
AllSettled(op, numbers) ==
  /\ messages' = [n \in Numbers |->
       IF n \in numbers
       THEN IF op = "Renew" THEN messages[n] ELSE [messages[n] EXCEPT !.lock = 0,
              !.place = IF op = "Complete" THEN "gone" ELSE IF op = "Defer" THEN "deferred" ELSE @]
       ELSE messages[n]]
  /\ UNCHANGED issued

(* LOCK-14, LOCK-16, LOCK-18: those of one partition, and maybe those of several. *)
SettleTogether(op, numbers) ==
  /\ numbers # {} /\ numbers \subseteq Locked
  /\ AllSettled(op, numbers)
  /\ Says(Together(op, numbers), Done)

(* LOCK-16: and if not all of them, then none. *)
SettleTogetherRefused(op, numbers) ==
  /\ numbers \subseteq Locked /\ Apart(numbers)
  /\ UNCHANGED core
  /\ Says(Together(op, numbers), Refused(AnyError))

(* LOCK-17 (SETTLE-LOST): the others are settled, or they are not. *)
SettleTogetherLost(op, numbers) ==
  /\ numbers \ Locked # {}
  /\ AllSettled(op, numbers \cap Locked) \/ UNCHANGED core
  /\ Says(Together(op, numbers), Refused("lock-lost"))

Next ==
  \/ \E key \in Keys : Send(key)
  \/ \E count \in Counts : ReceiveBatch(count) \/ ReceiveBatchNothing(count)
  \/ \E numbers \in SUBSET Numbers : ReceiveNumbers(numbers) \/ ReceiveNumbersRefused(numbers)
  \/ \E n \in Numbers, op \in {"Complete", "Defer", "Abandon", "LockEnds"} : Settle(op, n)
  \/ \E numbers \in SUBSET Numbers, op \in {"Complete", "Defer", "Abandon", "Renew"} :
       \/ SettleTogether(op, numbers)
       \/ SettleTogetherRefused(op, numbers)
       \/ SettleTogetherLost(op, numbers)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------------
TypeOK ==
  /\ messages \in Seq([key : Keys, partition : Partitions,
                       place : {"there", "deferred", "gone"}, lock : 0..MaxLocks])
  /\ issued \in 0..MaxLocks

Got == said'.reply.messages

(* BATCH-12 *)
NoMoreThanWasAskedFor ==
  [][(Asks("ReceiveBatch") /\ Answers("ReceivedSeveral")) =>
       /\ Len(Got) \in 1..said'.command.count
       /\ Cardinality({Got[i] : i \in DOMAIN Got}) = Len(Got)]_vars
WhatIsGivenIsLocked ==
  [][Answers("ReceivedSeveral") =>
       {n \in Numbers : messages'[n].lock # messages[n].lock} = {Got[i] : i \in DOMAIN Got}]_vars
NoneIsGivenTwice ==
  [][Answers("ReceivedSeveral") => \A i \in DOMAIN Got :
       messages[Got[i]].lock = 0 /\ messages[Got[i]].place # "gone"]_vars

(* BATCH-13 *)
SameKey(m, n) == messages[m].key = messages[n].key /\ messages[m].key # None
InTheOrderOfSending ==
  [][Asks("ReceiveBatch") /\ Answers("ReceivedSeveral") =>
       \A i, j \in DOMAIN Got : i < j /\ SameKey(Got[i], Got[j]) => Got[i] < Got[j]]_vars
NoneIsLeftOut ==
  [][Asks("ReceiveBatch") /\ Answers("ReceivedSeveral") =>
       \A j \in DOMAIN Got, m \in Numbers :
         (m < Got[j] /\ SameKey(m, Got[j]) /\ messages[m].place = "there" /\ messages[m].lock = 0)
           => \E i \in DOMAIN Got : Got[i] = m]_vars

(* BATCH-14 *)
LocksDiffer ==
  \A m, n \in Numbers : m # n /\ messages[m].lock # 0 => messages[m].lock # messages[n].lock
OneIsSettled ==
  [][Asks("Complete") \/ Asks("Defer") \/ Asks("Abandon") \/ Asks("LockEnds") =>
       \A n \in Numbers : n # said'.command.message => messages'[n] = messages[n]]_vars
WhatIsNotSettledStays ==
  [][\A n \in Numbers : messages'[n].place # messages[n].place =>
       \/ (Asks("Complete") \/ Asks("Defer")) /\ said'.command.message = n
       \/ Asks("SettleTogether") /\ n \in said'.command.messages]_vars

(* BATCH-14, FEAT-07 *)
WhatIsThereIsGiven ==
  [][Asks("ReceiveBatch") /\ Answers("Empty") =>
       \A n \in Numbers : messages[n].place = "there" => messages[n].lock # 0]_vars

(* DEFER-11 *)
OnePartitionGivesAll ==
  [][Asks("ReceiveNumbers") /\ Cardinality(PartitionsOf(said'.command.numbers)) = 1 =>
       /\ Answers("ReceivedSeveral")
       /\ \A n \in said'.command.numbers : messages'[n].lock # 0 /\ messages[n].lock = 0]_vars

(* LOCK-14, LOCK-18 *)
OnePartitionIsSettled ==
  [][Asks("SettleTogether") /\ said'.command.messages \subseteq Locked
       /\ Cardinality(PartitionsOf(said'.command.messages)) = 1 => Answers("Done")]_vars

(* LOCK-14, LOCK-16, LOCK-18 *)
AllAreSettledOrNone ==
  [][Asks("SettleTogether") /\ said'.command.messages \subseteq Locked =>
       \/ Answers("Done") /\ \A n \in said'.command.messages :
            IF said'.command.how = "Renew" THEN messages'[n] = messages[n] ELSE messages'[n].lock = 0
       \/ Answers("Refused") /\ messages' = messages]_vars

(* LOCK-17 *)
LostLocksAreRefused ==
  [][Asks("SettleTogether") /\ said'.command.messages \ Locked # {} => Answers("Refused")]_vars

NeverSettledOfTwoPartitions ==
  [][Asks("SettleTogether") /\ Answers("Done") =>
       Cardinality(PartitionsOf(said'.command.messages)) = 1]_vars
NeverOfTwoPartitions ==
  [][Answers("ReceivedSeveral") => Cardinality(PartitionsOf({Got[i] : i \in DOMAIN Got})) = 1]_vars
NeverFewerThanThereAre ==
  [][Asks("ReceiveBatch") /\ Answers("ReceivedSeveral") =>
       Len(Got) = AtMost(said'.command.count, Cardinality(Free("there")))]_vars
NeverOneLeft ==
  [][Asks("Complete") => Locked \subseteq {said'.command.message}]_vars
NeverSeveralNumbers ==
  [][Asks("ReceiveNumbers") /\ Answers("ReceivedSeveral") => Len(Got) = 1]_vars
====================================================================================
