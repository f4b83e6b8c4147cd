-------------------------------- MODULE Sessions --------------------------------
(* A partitioned queue that requires sessions: a session lies in one partition, is *)
(* locked by one receiver at a time, and is received in order. The session's lock  *)
(* is that of its messages.                                                        *)
EXTENDS Vocabulary

CONSTANTS
  Partitions, Breakable,
  SessionIds,
  Place,        \* the partition of each session
  Connections,
  MaxMessages,
  MaxDelivery,
  LockTicks,    \* ticks of the clock until a session's lock ends
  PeekCounts

VARIABLES
  messages,  \* as sent: session, partition, state, count, lost
  holder,    \* the connection that holds each session, or 0
  time,      \* ticks until each session's lock ends
  expired,   \* connections whose lock of a session ended, by session
  up

vars == <<messages, holder, time, expired, up, said>>
core == <<messages, holder, time, expired, up>>
View == core
Brief(m) == <<m.session, m.partition, m.state, m.count, m.lost>>
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

Present(session) == Available(session) \union Locked(session)
Reachable(session) == holder[session] = 0 /\ Available(session) # {} /\ ~Hit(session)

Finished(m, state) == [m EXCEPT !.state = state, !.count = 0]
Freed(m, count) == [m EXCEPT !.state = "available", !.count = count, !.lost = TRUE]
Returned(m) ==  \* abandoned, or its session's lock ended
  IF m.count >= MaxDelivery THEN [Finished(m, "dead") EXCEPT !.lost = TRUE]
  ELSE Freed(m, m.count)

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
        count |-> 0, lost |-> FALSE])
  /\ UNCHANGED <<holder, time, expired, up>>
  /\ Says(SendCommand(session), DoneIn(Place[session]))

(* KEY-03, KEY-04 *)
SendRefused(session) ==
  /\ Room
  /\ Hit(session)
  /\ UNCHANGED core
  /\ Says(SendCommand(session), Refused(AnyError))

(* SESS-01: without a session there is nobody to give it to, ... *)
SendUnfitRefused ==
  /\ Room
  /\ UNCHANGED core
  /\ Says(SendCommand(None), Refused(AnyError))

(* ... so that it may as well be accepted and dead-lettered. Where, nobody says. *)
SendUnfitDead ==
  /\ Room
  /\ messages' = Append(messages,
       [session |-> None, partition |-> 0, state |-> "dead", count |-> 0, lost |-> FALSE])
  /\ UNCHANGED <<holder, time, expired, up>>
  /\ Says(SendCommand(None), Done)

Accepting(op, connection, session) ==
  [op |-> op, connection |-> connection, session_id |-> session]

(* LIFE-10, SESS-03, SESS-04, SESS-11: whoever comes first, with messages or without. *)
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

(* LIFE-11, SESS-25 *)
AcceptSessionInOutage(connection, session) ==
  /\ Hit(session)
  /\ holder[session] # connection
  /\ UNCHANGED core
  /\ Says(Accepting("AcceptSession", connection, session), Refused(AnyError))

NextCommand(connection) == [op |-> "AcceptNextSession", connection |-> connection]

(* SESS-06 *)
AcceptNext(connection) ==
  /\ \E s \in SessionIds :
       /\ holder[s] = 0
       /\ Available(s) # {}
       /\ holder' = [holder EXCEPT ![s] = connection]
       /\ time' = [time EXCEPT ![s] = LockTicks]
       /\ expired' = [expired EXCEPT ![s] = @ \ {connection}]
       /\ Says(NextCommand(connection), [type |-> "SessionAccepted", session_id |-> s])
  /\ UNCHANGED <<messages, up>>

(* SESS-07, SESS-25: none, as an empty answer or as a refusal. *)
AcceptNextNothing(connection) ==
  /\ up # Partitions \/ \A s \in SessionIds : ~Reachable(s)
  /\ UNCHANGED core
  /\ \E reply \in {Empty, Refused(AnyError)} : Says(NextCommand(connection), reply)

(* SESS-13, SESS-14: the lock lasts anew, and those of its messages with it. *)
RenewSessionLock(connection, session) ==
  /\ holder[session] = connection
  /\ time' = [time EXCEPT ![session] = LockTicks]
  /\ UNCHANGED <<messages, holder, expired, up>>
  /\ Says(Accepting("RenewSessionLock", connection, session), [type |-> "Renewed"])

(* SESS-12 *)
RenewLost(connection, session) ==
  /\ connection \in expired[session]
  /\ UNCHANGED core
  /\ Says(Accepting("RenewSessionLock", connection, session), Refused("session-lock-lost"))

(* SESS-25 *)
RenewInOutage(connection, session) ==
  /\ Hit(session)
  /\ holder[session] = connection \/ connection \in expired[session]
  /\ UNCHANGED core
  /\ Says(Accepting("RenewSessionLock", connection, session), Refused(AnyError))

(* SESS-08, SESS-09: what was not settled is there again, and was not delivered. *)
CloseSession(connection, session) ==
  /\ holder[session] = connection
  /\ holder' = [holder EXCEPT ![session] = 0]
  /\ time' = [time EXCEPT ![session] = 0]
  /\ messages' = [n \in Numbers |->
       IF n \in Locked(session) THEN Freed(messages[n], messages[n].count - 1)
       ELSE messages[n]]
  /\ UNCHANGED <<expired, up>>
  /\ Says(Accepting("CloseSession", connection, session), Done)

(* SESS-25 *)
CloseInOutage(connection, session) ==
  /\ Hit(session)
  /\ holder[session] = connection
  /\ UNCHANGED core
  /\ Says(Accepting("CloseSession", connection, session), Refused(AnyError))

ReceiveCommand(connection, session) ==
  [op |-> "Receive", connection |-> connection, mode |-> "peek-lock", session_id |-> session]

(* KEY-06, LIFE-10, SESS-05, SESS-15: the session's oldest, for whoever holds it. *)
Receive(connection, session) ==
  /\ holder[session] = connection
  /\ Available(session) # {}
  /\ LET n == Least(Available(session)) IN
       /\ messages' = [messages EXCEPT ![n] =
            [@ EXCEPT !.state = "locked", !.count = @ + 1]]
       /\ Says(ReceiveCommand(connection, session), Received(n))
  /\ UNCHANGED <<holder, time, expired, up>>

(* LIFE-09, LIFE-11 *)
ReceiveNothing(connection, session) ==
  /\ holder[session] = connection
  /\ Available(session) = {} \/ Hit(session)
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, session), Empty)

(* LIFE-10, SESS-12: whose lock of the session ended is given nothing more. *)
ReceiveLost(connection, session) ==
  /\ connection \in expired[session]
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, session), Refused("session-lock-lost"))

(* SESS-02: nor is anybody who never held it. *)
ReceiveUnheld(connection, session) ==
  /\ holder[session] # connection
  /\ connection \notin expired[session]
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, session), Refused(AnyError))

(* SESS-02: without a session. Whether its holder may leave out its name, nobody says. *)
ReceiveUnnamed(connection) ==
  /\ \A s \in SessionIds : holder[s] # connection /\ connection \notin expired[s]
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, None), Refused(AnyError))

(* LIFE-11, SESS-25 *)
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

(* LIFE-06, SESS-12: the message's lock is lost, or the session's: either name will do. *)
SettleLost(op, n) ==
  /\ n \in Numbers
  /\ messages[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, "lost"), Refused(AnyError))

(* LIFE-11, SESS-25 *)
SettleRefused(op, n) ==
  /\ Is(n, "locked")
  /\ Hit(messages[n].session)
  /\ UNCHANGED core
  /\ Says(Settling(op, n, "held"), Refused(AnyError))

PeekCommand(count, session) == [op |-> "Peek", count |-> count, session_id |-> session]

(* SESS-23, LIFE-07: whoever asks, and whoever holds it. *)
Peek(count, session) ==
  /\ ~Hit(session)
  /\ UNCHANGED core
  /\ Says(PeekCommand(count, session), Peeked(First(count, Ascending(Present(session)))))

(* That an outage leaves a peek as it was, is not said. *)
PeekNothing(count, session) ==
  /\ Hit(session)
  /\ UNCHANGED core
  /\ Says(PeekCommand(count, session), Peeked(<< >>))

PeekRefused(count, session) ==
  /\ up # Partitions
  /\ UNCHANGED core
  /\ Says(PeekCommand(count, session), Refused(AnyError))

(* LIFE-05, LIFE-10, SESS-10, SESS-11: a session's lock ends, and so do those of its messages. *)
AdvanceClock ==
  LET ending == {s \in SessionIds : time[s] = 1} IN
    /\ holder' = [s \in SessionIds |-> IF s \in ending THEN 0 ELSE holder[s]]
    /\ time' = [s \in SessionIds |-> IF time[s] = 0 THEN 0 ELSE time[s] - 1]
    /\ expired' = [s \in SessionIds |->
         IF s \in ending THEN expired[s] \union {holder[s]} ELSE expired[s]]
    /\ messages' = [n \in Numbers |->
         IF messages[n].session \in ending /\ Is(n, "locked") THEN Returned(messages[n])
         ELSE messages[n]]
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
  \/ SendUnfitRefused \/ SendUnfitDead
  \/ \E c \in Connections, s \in SessionIds :
       \/ AcceptSession(c, s) \/ AcceptSessionRefused(c, s) \/ AcceptSessionInOutage(c, s)
       \/ RenewSessionLock(c, s) \/ RenewLost(c, s) \/ RenewInOutage(c, s)
       \/ CloseSession(c, s) \/ CloseInOutage(c, s)
       \/ Receive(c, s) \/ ReceiveNothing(c, s) \/ ReceiveLost(c, s)
       \/ ReceiveUnheld(c, s) \/ ReceiveRefused(c, s)
  \/ \E c \in Connections : AcceptNext(c) \/ AcceptNextNothing(c) \/ ReceiveUnnamed(c)
  \/ \E n \in 1..MaxMessages : Complete(n) \/ Abandon(n)
  \/ \E n \in 1..MaxMessages, op \in {"Complete", "Abandon"} : SettleLost(op, n) \/ SettleRefused(op, n)
  \/ \E count \in PeekCounts, s \in SessionIds :
       Peek(count, s) \/ PeekNothing(count, s) \/ PeekRefused(count, s)
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

(* Somebody goes on accepting each session, receiving from it and completing; locks *)
(* end. Closing and renewing could go on for ever, so that receiving is not enough. *)
Fairness ==
  /\ WF_core(AdvanceClock)
  /\ \A s \in SessionIds :
       /\ SF_core(\E c \in Connections : Receive(c, s))
       /\ SF_core(\E c \in Connections : AcceptSession(c, s))
       /\ SF_core(\E n \in Locked(s) : Complete(n))

FairSpec == Spec /\ Fairness
=================================================================================
