------------------------------ MODULE SessionStates ------------------------------
(* What is stored with a session, and which sessions there are. Whoever holds a    *)
(* session sets and gets its state; the state stays when messages and holders go.  *)
EXTENDS Vocabulary

CONSTANTS
  Partitions, Breakable,
  SessionIds,
  Place,       \* the partition of each session
  Texts,       \* what may be set
  Connections,
  MaxMessages

VARIABLES
  messages,  \* as sent: session, state
  holder,    \* the connection that holds each session, or 0
  lost,      \* the connections whose lock of each session ended
  states,    \* each session's state
  up

vars == <<messages, holder, lost, states, up, said>>
core == <<messages, holder, lost, states, up>>
View == core
State == [messages |-> [n \in DOMAIN messages |-> <<messages[n].session, messages[n].state>>],
          holder |-> holder, lost |-> lost, states |-> states, up |-> up]
Printed == Edge(State, State')

Numbers == DOMAIN messages
Available(session) ==
  {n \in Numbers : messages[n].session = session /\ messages[n].state = "available"}
Hit(session) == Place[session] \notin up
Outage == up # Partitions
Room == Len(messages) < MaxMessages
Existing == {s \in SessionIds : Available(s) # {} \/ states[s] # None}
Reachable == {s \in Existing : ~Hit(s)}

Init ==
  /\ messages = << >>
  /\ holder = [s \in SessionIds |-> 0]
  /\ lost = [s \in SessionIds |-> {}]
  /\ states = [s \in SessionIds |-> None]
  /\ up = Partitions
  /\ said = Silence

----------------------------------------------------------------------------------
(* KEY-04 *)
Send(session) ==
  /\ Room
  /\ ~Hit(session)
  /\ messages' = Append(messages, [session |-> session, state |-> "available"])
  /\ UNCHANGED <<holder, lost, states, up>>
  /\ Says([op |-> "Send", session_id |-> session], DoneIn(Place[session]))

Of(op, connection, session) == [op |-> op, connection |-> connection, session_id |-> session]

(* SESS-03 *)
AcceptSession(connection, session) ==
  /\ holder[session] = 0
  /\ holder' = [holder EXCEPT ![session] = connection]
  /\ lost' = [lost EXCEPT ![session] = @ \ {connection}]
  /\ UNCHANGED <<messages, states, up>>
  /\ Says(Of("AcceptSession", connection, session), Done)

(* SESS-25 *)
AcceptSessionInOutage(connection, session) ==
  /\ Hit(session)
  /\ holder[session] = 0
  /\ UNCHANGED core
  /\ Says(Of("AcceptSession", connection, session), Refused(AnyError))

(* SESS-08, SESS-19 *)
CloseSession(connection, session) ==
  /\ holder[session] = connection
  /\ holder' = [holder EXCEPT ![session] = 0]
  /\ UNCHANGED <<messages, lost, states, up>>
  /\ Says(Of("CloseSession", connection, session), Done)

(* SESS-25 *)
CloseInOutage(connection, session) ==
  /\ Hit(session)
  /\ holder[session] = connection
  /\ UNCHANGED core
  /\ Says(Of("CloseSession", connection, session), Refused(AnyError))

ReceiveCommand(connection, session) ==
  [op |-> "Receive", connection |-> connection, mode |-> "receive-and-delete",
   session_id |-> session]

(* KEY-06: so that a session's messages may be gone. *)
Receive(connection, session) ==
  /\ holder[session] = connection
  /\ Available(session) # {}
  /\ LET n == Least(Available(session)) IN
       /\ messages' = [messages EXCEPT ![n].state = "gone"]
       /\ Says(ReceiveCommand(connection, session), Received(n))
  /\ UNCHANGED <<holder, lost, states, up>>

(* LIFE-09, SESS-25 *)
ReceiveNothing(connection, session) ==
  /\ holder[session] = connection
  /\ Available(session) = {} \/ Hit(session)
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, session), Empty)

(* SESS-25 *)
ReceiveRefused(connection, session) ==
  /\ holder[session] = connection
  /\ Hit(session)
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, session), Refused(AnyError))

SetCommand(connection, session, text) ==
  [op |-> "SetSessionState", connection |-> connection, session_id |-> session, state |-> text]

(* SESS-17, SESS-18, SESS-20: None clears it. *)
SetState(connection, session, text) ==
  /\ holder[session] = connection
  /\ states' = [states EXCEPT ![session] = text]
  /\ UNCHANGED <<messages, holder, lost, up>>
  /\ Says(SetCommand(connection, session, text), Done)

(* SESS-16, SESS-17, SESS-18, SESS-19 *)
GetState(connection, session) ==
  /\ holder[session] = connection
  /\ UNCHANGED core
  /\ Says(Of("GetSessionState", connection, session),
          [type |-> "SessionState", state |-> states[session]])

(* Why a state is neither set nor got: SESS-12, SESS-21, SESS-25. *)
Hindered(connection, session, error) ==
  \/ error = "session-lock-lost" /\ connection \in lost[session]
  \/ error = AnyError /\ holder[session] # connection /\ connection \notin lost[session]
  \/ error = AnyError /\ Hit(session)

SetStateRefused(connection, session, text) ==
  /\ UNCHANGED core
  /\ \E error \in {"session-lock-lost", AnyError} :
       /\ Hindered(connection, session, error)
       /\ Says(SetCommand(connection, session, text), Refused(error))

GetStateRefused(connection, session) ==
  /\ UNCHANGED core
  /\ \E error \in {"session-lock-lost", AnyError} :
       /\ Hindered(connection, session, error)
       /\ Says(Of("GetSessionState", connection, session), Refused(error))

(* SESS-22: in an outage what lies behind it may be named or not. *)
ListSessions ==
  /\ UNCHANGED core
  /\ \E named \in SUBSET Existing :
       /\ Reachable \subseteq named
       /\ Says([op |-> "ListSessions"], [type |-> "SessionsListed", session_ids |-> named])

ListRefused ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says([op |-> "ListSessions"], Refused(AnyError))

(* SESS-11, SESS-19: all locks end. *)
AdvanceClock ==
  /\ holder' = [s \in SessionIds |-> 0]
  /\ lost' = [s \in SessionIds |-> lost[s] \union ({holder[s]} \ {0})]
  /\ UNCHANGED <<messages, states, up>>
  /\ Says([op |-> "AdvanceClock", what |-> "locks"], Done)

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED <<messages, holder, lost, states>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED <<messages, holder, lost, states>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E s \in SessionIds : Send(s)
  \/ \E c \in Connections, s \in SessionIds :
       \/ AcceptSession(c, s) \/ AcceptSessionInOutage(c, s)
       \/ CloseSession(c, s) \/ CloseInOutage(c, s)
       \/ Receive(c, s) \/ ReceiveNothing(c, s) \/ ReceiveRefused(c, s)
       \/ GetState(c, s) \/ GetStateRefused(c, s)
  \/ \E c \in Connections, s \in SessionIds, text \in Texts \union {None} :
       SetState(c, s, text) \/ SetStateRefused(c, s, text)
  \/ ListSessions \/ ListRefused
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------------
TypeOK ==
  /\ messages \in Seq([session : SessionIds, state : {"available", "gone"}])
  /\ holder \in [SessionIds -> Connections \union {0}]
  /\ lost \in [SessionIds -> SUBSET Connections]
  /\ states \in [SessionIds -> Texts \union {None}]
  /\ up \subseteq Partitions

(* SESS-12, SESS-21 *)
OnlyTheHolderSetsAndGets ==
  [][(Asks("SetSessionState") \/ Asks("GetSessionState")) /\ ~Answers("Refused")
       => holder[said'.command.session_id] = said'.command.connection]_vars

(* SESS-16, SESS-17, SESS-18, SESS-20: setting one changes that one, to what was set. *)
WhatWasSetIsThere ==
  [][\A s \in SessionIds : states'[s] # states[s] =>
       /\ Asks("SetSessionState") /\ Answers("Done")
       /\ said'.command.session_id = s /\ states'[s] = said'.command.state]_vars
WhatIsGotWasSet ==
  [][Answers("SessionState") => said'.reply.state = states[said'.command.session_id]]_vars

(* SESS-19 *)
StatesOutliveAll ==
  [][~Asks("SetSessionState") => states' = states]_vars

(* SESS-22 *)
ListsAreRight ==
  [][Answers("SessionsListed") =>
       /\ said'.reply.session_ids \subseteq Existing
       /\ ~Outage => said'.reply.session_ids = Existing]_vars

RefusalsChangeNothing == [][Answers("Refused") => core' = core]_vars

(* What must be reachable: each of these must be violated. *)
NeverAStateAlone ==  \* SESS-19, SESS-22: without messages or a holder
  \A s \in SessionIds : states[s] # None => Available(s) # {} \/ holder[s] # 0
NeverCleared == [][\A s \in SessionIds : states[s] # None => states'[s] # None]_vars
NeverGotByAnother ==
  [][Answers("SessionState") /\ said'.reply.state # None => said'.command.connection = 1]_vars
NeverTwoStates == \A s, t \in SessionIds : s # t => states[s] = None \/ states[t] = None
NeverLeftOut ==
  [][Answers("SessionsListed") => said'.reply.session_ids = Existing]_vars
NeverRefusedForItsLock == [][~Refuses("session-lock-lost")]_vars
==================================================================================
