------------------------ MODULE PartitionedEntityProps ------------------------
(* What holds of a partitioned queue, what does not, and what must be reachable. *)
EXTENDS PartitionedEntity

MessageType ==
  [key : Keys \union {None}, partition : Partitions, state : States,
   count : 0..MaxDelivery, left : 0..LockTicks, front : Connections \union {0},
   lost : BOOLEAN]

TypeOK == messages \in Seq(MessageType) /\ up \subseteq Partitions

LockedHaveTime ==
  \A n \in Numbers : (messages[n].left > 0) <=> messages[n].state \in {"locked", "cached"}

(* KEY-02 *)
SameKeySamePartition ==
  \A m, n \in Numbers :
    messages[m].key = messages[n].key /\ messages[m].key # None
      => messages[m].partition = messages[n].partition

(* KEY-01, KEY-07, KEY-20 *)
KeyedLieWhereTheirKeyLeads ==
  \A n \in Numbers : messages[n].key # None => messages[n].partition = Place[messages[n].key]

(* KEY-17: of a key, a front end holds only one message back. *)
CachesHoldOneOfEachKey ==
  \A c \in Connections : \A m, n \in Cached(c) : m \in Older(n) => m = n

--------------------------------------------------------------------------------
NothingChanges == core' = core
Got(n) == Answers("Received") /\ said'.reply.message = n
Unsettled == {n \in Numbers : messages[n].state \notin Ended}
Hidden(connection) == UNION {Cached(c) : c \in Connections \ {connection}}

(* KEY-03, LIFE-06 *)
RefusalsChangeNothing == [][Answers("Refused") => NothingChanges]_vars

(* KEY-01, LIFE-12: one partition takes it, and that one is told. *)
ToldWhereItWent ==
  [][Asks("Send") /\ Answers("Done") =>
       /\ Len(messages') = Len(messages) + 1
       /\ messages'[Len(messages')].partition = said'.reply.partition]_vars

(* KEY-03, KEY-20 *)
KeyedSendsNeedTheirPartition ==
  [][Asks("Send") /\ said'.command.key # None
       => (Answers("Refused") <=> Place[said'.command.key] \notin up)]_vars

(* KEY-15, KEY-18 *)
UnkeyedSendsGoRound ==
  [][Asks("Send") /\ said'.command.key = None /\ Answers("Refused")
       => up = {} \/ (Outage /\ said'.command.timeout = "short")]_vars

(* LIFE-01, LIFE-02, LIFE-03 *)
OnlyFreeMessagesAreGiven ==
  [][\A n \in 1..MaxMessages : Got(n) =>
       \/ Is(n, "available")
       \/ Is(n, "cached") /\ messages[n].front = said'.command.connection]_vars

(* LIFE-03 *)
WhatEndedStaysSo ==
  [][\A n \in Numbers : messages[n].state \in Ended =>
       messages'[n].state = messages[n].state]_vars

(* LIFE-03: no message ends that nobody was given, but by its time to live. *)
NothingEndsUnseen ==
  [][\A n \in Numbers :
       messages'[n].state \in {"completed", "dead"} /\ messages[n].state \notin Ended
         => Is(n, "locked") \/ Got(n)]_vars

(* LIFE-04 *)
AbandonedMessagesAreThereAgain ==
  [][Asks("Abandon") /\ Answers("Done") =>
       LET n == said'.command.message IN
         IF messages[n].count < MaxDelivery THEN messages'[n].state = "available"
         ELSE messages'[n].state = "dead"]_vars

(* LIFE-05 *)
LocksEnd ==
  [][Asks("AdvanceClock") =>
       \A n \in Numbers : messages[n].left = 1 => messages'[n].state \in {"available", "dead"}]_vars

(* LIFE-06 *)
LostLocksSettleNothing ==
  [][(Asks("Complete") \/ Asks("Abandon")) /\ said'.command.lock = "lost" =>
       Answers("Refused") /\ NothingChanges
       /\ (messages[said'.command.message].partition \in up => Refuses("lock-lost"))]_vars

(* LIFE-07 *)
PeekShowsOnePartitionInOrder ==
  [][Asks("Peek") => NothingChanges /\ (Answers("Peeked") =>
       LET shown == said'.reply.messages IN
         /\ Len(shown) <= said'.command.count
         /\ \A i \in DOMAIN shown : shown[i] \in Unsettled
         /\ \A i, j \in DOMAIN shown : i < j => shown[i] < shown[j]
         /\ \A i, j \in DOMAIN shown : messages[shown[i]].partition = messages[shown[j]].partition)]_vars

(* LIFE-09 *)
ReceiveFindsWhatNoOtherHolds ==
  [][Asks("Receive") /\ Answers("Empty") /\ ~Outage =>
       {n \in Unsettled : ~Is(n, "locked")} \subseteq Hidden(said'.command.connection)]_vars

(* KEY-17. A message that was given back may be overtaken: a newer one may have been *)
(* cached while it was locked. What abandoning receivers see is left open.          *)
OneKeyComesInOrder ==
  [][\A m, n \in Numbers : Got(n) /\ m \in Older(n) /\ m \in Unsettled
       /\ ~Is(m, "locked") /\ ~messages[m].lost
       => m \in Hidden(said'.command.connection)]_vars

(* Liveness: once outages have healed, every message that was sent comes to an end. *)
Healed == <>[](up = Partitions)
AllEnd == \A n \in 1..MaxMessages : (n \in Numbers) ~> (n \in Numbers /\ messages[n].state \in Ended)
HealedMessagesEnd == Healed => AllEnd

--------------------------------------------------------------------------------
(* What partitioning takes away: each of these must be violated. *)

(* KEY-16 *)
ReceivedInTheOrderOfSending ==
  [][\A m, n \in Numbers : m < n /\ Got(n) => m \notin Unsettled \/ Is(m, "locked")]_vars

(* A9 *)
PeekShowsTheOldestOfAll ==
  [][Asks("Peek") /\ Answers("Peeked") /\ Unsettled # {} =>
       said'.reply.messages # << >> /\ said'.reply.messages[1] = Least(Unsettled)]_vars

(* LIFE-08 *)
ReceiveFindsWhateverIsThere ==
  [][Asks("Receive") /\ Answers("Empty") /\ ~Outage =>
       \A n \in Unsettled : Is(n, "locked")]_vars

--------------------------------------------------------------------------------
(* What must be reachable: each of these must be violated too. *)
NeverDead == \A n \in Numbers : ~Is(n, "dead")
NeverExpired == \A n \in Numbers : ~Is(n, "expired")
NeverAllDown == up # {}
NeverCached == \A n \in Numbers : ~Is(n, "cached")
NeverLockedWhileDown == \A n \in Numbers : Is(n, "locked") => messages[n].partition \in up
NeverServedByCache == [][\A n \in Numbers : Got(n) => ~Is(n, "cached")]_vars
NeverRefusedForItsKey ==
  [][Asks("Send") /\ Answers("Refused") => said'.command.key = None]_vars
NeverGoesRound ==
  [][Asks("Send") /\ Outage /\ Answers("Done") => said'.command.key # None]_vars
NeverTooShort == [][Asks("Send") /\ Refuses(AnyError) => up = {} \/ said'.command.key # None]_vars
NeverLockLost == [][~Refuses("lock-lost")]_vars
NeverDeliveredAgain == [][\A n \in Numbers : Got(n) => messages[n].count = 0]_vars
================================================================================
