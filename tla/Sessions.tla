-------------------------------- MODULE Sessions --------------------------------
(* A partitioned queue that requires sessions: a session lies in one partition, is *)
(* locked by one receiver at a time, and is received in order.                     *)
EXTENDS Vocabulary

CONSTANTS
  Partitions, Breakable,
  SessionIds,
  Place,        \* the partition of each session
  Connections,
  MaxMessages,
  MaxDelivery,
  LockTicks     \* ticks of the clock until a lock ends, a session's or a message's

VARIABLES
  messages,  \* as sent: session, partition, state, count, left, lost
  holder,    \* the connection that holds each session, or 0
  time,      \* ticks until each session's lock ends
  expired,   \* connections whose lock of a session ended, by session
  up

vars == <<messages, holder, time, expired, up, said>>
core == <<messages, holder, time, expired, up>>
View == core
Brief(m) == <<m.session, m.partition, m.state, m.count, m.left, m.lost>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])],
          holder |-> holder, time |-> time, expired |-> expired, up |-> up]
Printed == Edge(State, State')

Ended == {"completed", "dead"}
Numbers == DOMAIN messages
Is(n, state) == n \in Numbers /\ messages[n].state = state
Available(session) == {n \in Numbers : messages[n].session = session /\ Is(n, "available")}
Locked(session) == {n \in Numbers : messages[n].session = session /\ Is(n, "locked")}
Hit(session) == Place[session] \notin up
Room == Len(messages) < MaxMessages

Finished(m, state) == [m EXCEPT !.state = state, !.count = 0, !.left = 0]
Returned(m) ==
  [(IF m.count >= MaxDelivery THEN Finished(m, "dead")
    ELSE [m EXCEPT !.state = "available", !.left = 0]) EXCEPT !.lost = TRUE]
Later(m) ==
  IF m.left = 0 THEN m
  ELSE IF m.left > 1 THEN [m EXCEPT !.left = @ - 1] ELSE Returned(m)

Init ==
  /\ messages = << >>
  /\ holder = [s \in SessionIds |-> 0]
  /\ time = [s \in SessionIds |-> 0]
  /\ expired = [s \in SessionIds |-> {}]
  /\ up = Partitions
  /\ said = Silence

---------------------------------------------------------------------------------
SendCommand(session) == [op |-> "Send", session_id |-> session]

(* KEY-04, KEY-05 *)
Send(session) ==
  /\ Room
  /\ ~Hit(session)
  /\ messages' = Append(messages,
       [session |-> session, partition |-> Place[session], state |-> "available",
        count |-> 0, left |-> 0, lost |-> FALSE])
  /\ UNCHANGED <<holder, time, expired, up>>
  /\ Says(SendCommand(session), DoneIn(Place[session]))

(* KEY-03, KEY-04 *)
SendRefused(session) ==
  /\ Room
  /\ Hit(session)
  /\ UNCHANGED core
  /\ Says(SendCommand(session), Refused(AnyError))

Accepting(op, connection, session) ==
  [op |-> op, connection |-> connection, session_id |-> session]

(* LIFE-10 *)
AcceptSession(connection, session) ==
  /\ holder[session] = 0
  /\ holder' = [holder EXCEPT ![session] = connection]
  /\ time' = [time EXCEPT ![session] = LockTicks]
  /\ expired' = [expired EXCEPT ![session] = @ \ {connection}]
  /\ UNCHANGED <<messages, up>>
  /\ Says(Accepting("AcceptSession", connection, session), Done)

(* LIFE-10 *)
AcceptSessionRefused(connection, session) ==
  /\ holder[session] \notin {0, connection}
  /\ UNCHANGED core
  /\ Says(Accepting("AcceptSession", connection, session), Refused("session-cannot-be-locked"))

(* LIFE-11 *)
AcceptSessionInOutage(connection, session) ==
  /\ Hit(session)
  /\ holder[session] # connection
  /\ UNCHANGED core
  /\ Says(Accepting("AcceptSession", connection, session), Refused(AnyError))

(* LIFE-10: a session that is given back can be had by another at once. It is not *)
(* said what becomes of messages that are still locked, so none may be.           *)
CloseSession(connection, session) ==
  /\ holder[session] = connection
  /\ Locked(session) = {}
  /\ holder' = [holder EXCEPT ![session] = 0]
  /\ time' = [time EXCEPT ![session] = 0]
  /\ UNCHANGED <<messages, expired, up>>
  /\ Says(Accepting("CloseSession", connection, session), Done)

ReceiveCommand(connection, session) ==
  [op |-> "Receive", connection |-> connection, mode |-> "peek-lock", session_id |-> session]

(* KEY-06, LIFE-10: the session's oldest, for whoever holds it. *)
Receive(connection, session) ==
  /\ holder[session] = connection
  /\ Available(session) # {}
  /\ LET n == Least(Available(session)) IN
       /\ messages' = [messages EXCEPT ![n] =
            [@ EXCEPT !.state = "locked", !.count = @ + 1, !.left = LockTicks]]
       /\ Says(ReceiveCommand(connection, session), Received(n))
  /\ UNCHANGED <<holder, time, expired, up>>

(* LIFE-09, LIFE-11 *)
ReceiveNothing(connection, session) ==
  /\ holder[session] = connection
  /\ Available(session) = {} \/ Hit(session)
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, session), Empty)

(* LIFE-10: whose lock of the session ended is given nothing more. *)
ReceiveLost(connection, session) ==
  /\ connection \in expired[session]
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, session), Refused("session-lock-lost"))

(* LIFE-11 *)
ReceiveRefused(connection, session) ==
  /\ holder[session] = connection \/ connection \in expired[session]
  /\ Hit(session)
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, session), Refused(AnyError))

Settling(op, n, lock) == [op |-> op, message |-> n, lock |-> lock]

(* LIFE-03 *)
Complete(n) ==
  /\ Is(n, "locked")
  /\ messages' = [messages EXCEPT ![n] = [Finished(@, "completed") EXCEPT !.lost = TRUE]]
  /\ UNCHANGED <<holder, time, expired, up>>
  /\ Says(Settling("Complete", n, "held"), Done)

(* LIFE-04 *)
Abandon(n) ==
  /\ Is(n, "locked")
  /\ messages' = [messages EXCEPT ![n] = Returned(@)]
  /\ UNCHANGED <<holder, time, expired, up>>
  /\ Says(Settling("Abandon", n, "held"), Done)

(* LIFE-06 *)
SettleLost(op, n) ==
  /\ n \in Numbers
  /\ messages[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, "lost"), Refused("lock-lost"))

(* LIFE-11 *)
SettleRefused(op, n, lock) ==
  /\ n \in Numbers
  /\ Hit(messages[n].session)
  /\ IF lock = "held" THEN Is(n, "locked") ELSE messages[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, lock), Refused(AnyError))

(* LIFE-05, LIFE-10: locks end; a session's takes those of its messages along. *)
AdvanceClock ==
  LET ending == {s \in SessionIds : time[s] = 1} IN
    /\ holder' = [s \in SessionIds |-> IF s \in ending THEN 0 ELSE holder[s]]
    /\ time' = [s \in SessionIds |-> IF time[s] = 0 THEN 0 ELSE time[s] - 1]
    /\ expired' = [s \in SessionIds |->
         IF s \in ending THEN expired[s] \union {holder[s]} ELSE expired[s]]
    /\ messages' = [n \in Numbers |->
         IF messages[n].session \in ending /\ Is(n, "locked") THEN Returned(messages[n])
         ELSE Later(messages[n])]
    /\ UNCHANGED up
    /\ Says([op |-> "AdvanceClock", what |-> "locks"], Done)

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED <<messages, holder, time, expired>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED <<messages, holder, time, expired>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E s \in SessionIds : Send(s) \/ SendRefused(s)
  \/ \E c \in Connections, s \in SessionIds :
       \/ AcceptSession(c, s) \/ AcceptSessionRefused(c, s) \/ AcceptSessionInOutage(c, s)
       \/ CloseSession(c, s)
       \/ Receive(c, s) \/ ReceiveNothing(c, s) \/ ReceiveLost(c, s) \/ ReceiveRefused(c, s)
  \/ \E n \in 1..MaxMessages : Complete(n) \/ Abandon(n)
  \/ \E n \in 1..MaxMessages, op \in {"Complete", "Abandon"} : SettleLost(op, n)
  \/ \E n \in 1..MaxMessages, op \in {"Complete", "Abandon"}, lock \in {"held", "lost"} :
       SettleRefused(op, n, lock)
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

(* Somebody goes on accepting each session and receiving from it; locks end. *)
Fairness ==
  /\ WF_core(AdvanceClock)
  /\ \A s \in SessionIds :
       /\ SF_core(\E c \in Connections : Receive(c, s))
       /\ SF_core(\E c \in Connections : AcceptSession(c, s))

FairSpec == Spec /\ Fairness

---------------------------------------------------------------------------------
TypeOK ==
  /\ messages \in Seq([session : SessionIds, partition : Partitions,
                       state : {"available", "locked"} \union Ended, count : 0..MaxDelivery,
                       left : 0..LockTicks, lost : BOOLEAN])
  /\ holder \in [SessionIds -> Connections \union {0}]
  /\ \A s \in SessionIds : (time[s] > 0) <=> holder[s] # 0
  /\ up \subseteq Partitions

(* KEY-04, KEY-05 *)
SessionLiesInOnePartition ==
  \A n \in Numbers : messages[n].partition = Place[messages[n].session]

(* LIFE-10 *)
OnlyHeldSessionsHaveLocks == \A s \in SessionIds : holder[s] = 0 => Locked(s) = {}

Got(n) == Answers("Received") /\ said'.reply.message = n

(* KEY-06 *)
SessionComesInOrder ==
  [][\A m, n \in Numbers : m < n /\ Got(n) /\ messages[m].session = messages[n].session
       => ~Is(m, "available")]_vars

(* LIFE-02, LIFE-10 *)
OnlyTheHolderReceives ==
  [][\A n \in Numbers : Got(n) =>
       Is(n, "available") /\ holder[messages[n].session] = said'.command.connection]_vars

(* LIFE-10 *)
HeldSessionsAreRefused ==
  [][Asks("AcceptSession") /\ holder[said'.command.session_id] # 0 =>
       /\ Answers("Refused")
       /\ ~Hit(said'.command.session_id) => Refuses("session-cannot-be-locked")]_vars

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

(* LIFE-05, LIFE-10 *)
LocksEnd ==
  [][Asks("AdvanceClock") => \A n \in Numbers :
       messages[n].left = 1 => messages'[n].state \in {"available", "dead"}]_vars

AllEnd == \A n \in 1..MaxMessages : (n \in Numbers) ~> (n \in Numbers /\ messages[n].state \in Ended)

NeverHandedOver ==  \* LIFE-10: one session, two receivers after one another
  [][\A n \in Numbers : Got(n) => messages[n].count = 0 \/ said'.command.connection = 1]_vars
NeverCannotBeLocked == [][~Refuses("session-cannot-be-locked")]_vars
NeverSessionLockLost == [][~Refuses("session-lock-lost")]_vars
NeverTwoHeldByOne ==
  \A s, t \in SessionIds : s # t /\ holder[s] # 0 => holder[s] # holder[t]
NeverTwoLocked == \A s \in SessionIds : Cardinality(Locked(s)) < 2
=================================================================================
