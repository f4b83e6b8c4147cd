------------------------------ MODULE SessionsProps -----------------------------
(* What holds of sessions, and what must be reachable. *)
EXTENDS Sessions

TypeOK ==
  /\ messages \in Seq([session : SessionIds \union {None}, partition : Partitions,
                       state : {"available", "locked"} \union Ended,
                       count : 0..MaxDelivery, lost : BOOLEAN])
  /\ holder \in [SessionIds -> Connections \union {0}]
  /\ \A s \in SessionIds : (time[s] > 0) <=> holder[s] # 0
  /\ up \subseteq Partitions

(* KEY-04, KEY-05 *)
SessionLiesInOnePartition ==
  \A n \in Numbers : messages[n].session # None
    => messages[n].partition = Place[messages[n].session]

(* LIFE-10, SESS-08, SESS-11 *)
OnlyHeldSessionsHaveLocks == \A s \in SessionIds : holder[s] = 0 => Locked(s) = {}

(* SESS-01 *)
UnfitAreGivenToNobody ==
  \A n \in Numbers : messages[n].session = None => messages[n].state = "dead"

Got(n) == Answers("Received") /\ said'.reply.message = n

(* KEY-06, SESS-15 *)
SessionComesInOrder ==
  [][\A m, n \in Numbers : m < n /\ Got(n) /\ messages[m].session = messages[n].session
       => ~Is(m, "available")]_vars

(* LIFE-02, LIFE-10, SESS-02, SESS-05 *)
OnlyTheHolderReceives ==
  [][\A n \in Numbers : Got(n) =>
       Is(n, "available") /\ holder[messages[n].session] = said'.command.connection]_vars

(* LIFE-10 *)
HeldSessionsAreRefused ==
  [][Asks("AcceptSession") /\ holder[said'.command.session_id] # 0 =>
       /\ Answers("Refused")
       /\ ~Hit(said'.command.session_id) => Refuses("session-cannot-be-locked")]_vars

(* SESS-03 *)
FreeSessionsAreAccepted ==
  [][Asks("AcceptSession") /\ holder[said'.command.session_id] = 0 =>
       Answers("Done") \/ Hit(said'.command.session_id)]_vars

(* LIFE-09 *)
ReceiveFindsTheSession ==
  [][Asks("Receive") /\ Answers("Empty") /\ ~Hit(said'.command.session_id)
       => Available(said'.command.session_id) = {}]_vars

(* LIFE-06, LIFE-10, KEY-03 *)
RefusalsChangeNothing == [][Answers("Refused") => core' = core]_vars

(* LIFE-03 *)
WhatEndedStaysSo ==
  [][\A n \in Numbers : messages[n].state \in Ended
       => messages'[n].state = messages[n].state]_vars

(* LIFE-05, LIFE-10, SESS-10, SESS-11 *)
LocksEnd ==
  [][Asks("AdvanceClock") => \A s \in SessionIds : time[s] = 1 =>
       holder'[s] = 0 /\ \A n \in Locked(s) : messages'[n].state \in {"available", "dead"}]_vars

(* SESS-13, SESS-14: until then nothing is lost, however long ago it was received. *)
HeldSessionsKeepTheirLocks ==
  [][Asks("AdvanceClock") => \A s \in SessionIds : time[s] > 1 =>
       holder'[s] = holder[s] /\ \A n \in Locked(s) : messages'[n] = messages[n]]_vars

(* SESS-13 *)
RenewingBeginsAnew ==
  [][Asks("RenewSessionLock") /\ Answers("Renewed") =>
       holder[said'.command.session_id] = said'.command.connection
       /\ time'[said'.command.session_id] = LockTicks]_vars

(* SESS-08, SESS-09 *)
ClosingGivesAllBackUncounted ==
  [][Asks("CloseSession") /\ Answers("Done") =>
       /\ holder'[said'.command.session_id] = 0
       /\ \A n \in Locked(said'.command.session_id) :
            messages'[n].state = "available" /\ messages'[n].count = messages[n].count - 1]_vars

(* SESS-10 *)
ExpiryCounts ==
  [][Asks("AdvanceClock") => \A n \in Numbers :
       Is(n, "locked") /\ messages'[n].state = "available"
         => messages'[n].count = messages[n].count]_vars

(* SESS-06, SESS-07 *)
TheNextIsFreeAndHasMessages ==
  [][Asks("AcceptNextSession") /\ Answers("SessionAccepted") =>
       LET s == said'.reply.session_id IN holder[s] = 0 /\ Available(s) # {}]_vars
TheNextIsFoundIfThereIsOne ==
  [][Asks("AcceptNextSession") /\ ~Answers("SessionAccepted") /\ up = Partitions =>
       \A s \in SessionIds : holder[s] # 0 \/ Available(s) = {}]_vars

(* SESS-12 *)
LostSessionsAllowNothing ==
  [][\A s \in SessionIds :
       (Asks("Receive") \/ Asks("RenewSessionLock")) /\ said'.command.session_id = s
         /\ said'.command.connection \in expired[s] => Answers("Refused")]_vars

(* SESS-23 *)
PeekShowsOneSession ==
  [][Asks("Peek") /\ Answers("Peeked") =>
       LET shown == said'.reply.messages IN
         /\ \A i \in DOMAIN shown : shown[i] \in Present(said'.command.session_id)
         /\ \A i, j \in DOMAIN shown : i < j => shown[i] < shown[j]]_vars

(* SESS-24 *)
OutagesHitTheirPartitionOnly ==
  [][Answers("Refused") /\ (Asks("Receive") \/ Asks("CloseSession") \/ Asks("RenewSessionLock")) =>
       \A s \in SessionIds : s = said'.command.session_id
         /\ holder[s] = said'.command.connection => Hit(s)]_vars

AllEnd == \A n \in 1..MaxMessages : (n \in Numbers) ~> (n \in Numbers /\ messages[n].state \in Ended)

NeverHandedOver ==  \* LIFE-10: one session, two receivers after one another
  [][\A n \in Numbers : Got(n) => messages[n].count = 0 \/ said'.command.connection = 1]_vars
NeverCannotBeLocked == [][~Refuses("session-cannot-be-locked")]_vars
NeverSessionLockLost == [][~Refuses("session-lock-lost")]_vars
NeverTwoHeldByOne ==
  \A s, t \in SessionIds : s # t /\ holder[s] # 0 => holder[s] # holder[t]
NeverClosedWithLocks ==
  [][Asks("CloseSession") /\ Answers("Done") => Locked(said'.command.session_id) = {}]_vars
NeverRenewedInTime ==
  [][Asks("RenewSessionLock") /\ Answers("Renewed") => time' = time]_vars
NeverNext == [][~Answers("SessionAccepted")]_vars
NeverWithoutNext ==
  [][~(Asks("AcceptNextSession") /\ Answers("Empty") /\ up = Partitions /\ messages # << >>)]_vars
NeverUnfit == \A n \in Numbers : messages[n].session # None
NeverPeekedWhileHeld ==
  [][Asks("Peek") /\ Answers("Peeked") /\ said'.reply.messages # << >>
       => holder[said'.command.session_id] = 0]_vars
NeverTwoLocked == \A s \in SessionIds : Cardinality(Locked(s)) < 2
=================================================================================
