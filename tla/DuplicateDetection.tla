--------------------------- MODULE DuplicateDetection ---------------------------
(* Copies of a message, told by their MessageId within a window of time. *)
EXTENDS MessageKeys

CONSTANTS
  Partitions, Breakable,
  Place,        \* the partition of each key, a pair of property and value
  Properties,   \* the messages on offer: session_id, partition_key, message_id
  AcrossKeys,   \* the reading DUPLICATES-ACROSS-KEYS: "per-key" or "either"
  WindowTicks,  \* ticks of the clock until a MessageId is forgotten
  MaxMessages

VARIABLES
  messages,    \* as accepted: key, message_id, partition, state
  remembered,  \* what was accepted of late: key, message_id, left
  up

vars == <<messages, remembered, up, said>>
core == <<messages, remembered, up>>
View == core
Brief(m) == <<m.key, m.message_id, m.partition, m.state>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])],
          remembered |-> remembered, up |-> up]
Printed == Edge(State, State')

Numbers == DOMAIN messages
Is(n, state) == n \in Numbers /\ messages[n].state = state
(* What a receive may give: of each key the oldest. *)
Receivable ==
  {n \in Numbers :
     /\ Is(n, "available") /\ messages[n].partition \in up
     /\ \A m \in Numbers : m < n /\ Is(m, "available") => messages[m].key # messages[n].key}
Room == Len(messages) < MaxMessages

Copies(m) == {r \in remembered : r.message_id = m.message_id}
IsCopy(m) == \E r \in Copies(m) : SameKey(r.key, KeyOf(m))
MayBeCopy(m) == AcrossKeys = "either" /\ Copies(m) # {}

SendCommand(m) ==
  [op |-> "Send", session_id |-> m.session_id, partition_key |-> m.partition_key,
   message_id |-> m.message_id]

Accept(m, state) ==
  messages' = Append(messages, [key |-> KeyOf(m), message_id |-> m.message_id,
                                partition |-> Place[KeyOf(m)], state |-> state])

Init ==
  /\ messages = << >>
  /\ remembered = {}
  /\ up = Partitions
  /\ said = Silence

---------------------------------------------------------------------------------
(* KEY-10, KEY-11: the first of its MessageId in the window. *)
SendFirst(m) ==
  /\ Room
  /\ Place[KeyOf(m)] \in up
  /\ ~IsCopy(m)
  /\ Accept(m, "available")
  /\ remembered' = remembered \union
       {[key |-> KeyOf(m), message_id |-> m.message_id, left |-> WindowTicks]}
  /\ UNCHANGED up
  /\ Says(SendCommand(m), DoneIn(Place[KeyOf(m)]))

(* KEY-11: the send of a copy succeeds, and nothing comes of it. *)
SendCopy(m) ==
  /\ Room
  /\ Place[KeyOf(m)] \in up
  /\ IsCopy(m) \/ MayBeCopy(m)
  /\ Accept(m, "eliminated")
  /\ UNCHANGED <<remembered, up>>
  /\ Says(SendCommand(m), DoneIn(Place[KeyOf(m)]))

(* KEY-03, KEY-11: what was refused is no first copy. *)
SendRefused(m) ==
  /\ Room
  /\ Place[KeyOf(m)] \notin up
  /\ UNCHANGED core
  /\ Says(SendCommand(m), Refused(AnyError))

ReceiveCommand == [op |-> "Receive", connection |-> 1, mode |-> "receive-and-delete"]

(* LIFE-01 *)
Receive ==
  /\ \E n \in Receivable :
       /\ messages' = [messages EXCEPT ![n].state = "completed"]
       /\ Says(ReceiveCommand, Received(n))
  /\ UNCHANGED <<remembered, up>>

(* LIFE-09, LIFE-11 *)
ReceiveNothing ==
  /\ up # Partitions \/ Receivable = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand, Empty)

(* LIFE-11 *)
ReceiveRefused ==
  /\ up # Partitions
  /\ UNCHANGED core
  /\ Says(ReceiveCommand, Refused(AnyError))

(* KEY-11: the window ends. *)
AdvanceClock ==
  /\ remembered' = {[r EXCEPT !.left = @ - 1] : r \in {s \in remembered : s.left > 1}}
  /\ UNCHANGED <<messages, up>>
  /\ Says([op |-> "AdvanceClock", what |-> "window"], Done)

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED <<messages, remembered>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED <<messages, remembered>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E m \in Properties : SendFirst(m) \/ SendCopy(m) \/ SendRefused(m)
  \/ Receive
  \/ ReceiveNothing
  \/ ReceiveRefused
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

---------------------------------------------------------------------------------
TypeOK ==
  /\ \A n \in Numbers :
       /\ messages[n].partition \in Partitions
       /\ messages[n].state \in {"available", "completed", "eliminated"}
  /\ \A r \in remembered : r.left \in 1..WindowTicks
  /\ up \subseteq Partitions

(* KEY-10, KEY-11: one broker sees all copies. *)
CopiesMeetInOnePartition ==
  \A m, n \in Numbers : messages[m].key = messages[n].key
    => messages[m].partition = messages[n].partition

(* KEY-11: a window remembers one message of a key and MessageId. *)
RememberedOnce ==
  \A r, s \in remembered : r.message_id = s.message_id /\ r.key = s.key => r = s

(* KEY-11: a copy within the window changes nothing that can be received. *)
CopiesAreEliminated ==
  [][\A n \in Numbers' \ Numbers :
       (\E r \in remembered : r.message_id = messages'[n].message_id /\ r.key = messages'[n].key)
         => messages'[n].state = "eliminated"]_vars

(* KEY-11, KEY-24: only a copy is eliminated, and per key only one with the same key. *)
OnlyCopiesAreEliminated ==
  [][\A n \in Numbers' \ Numbers : messages'[n].state = "eliminated" =>
       \E r \in remembered :
         /\ r.message_id = messages'[n].message_id
         /\ AcrossKeys = "per-key" => r.key = messages'[n].key]_vars

(* KEY-03, KEY-11 *)
RefusedAreNotRemembered == [][Answers("Refused") => core' = core]_vars

(* KEY-11 *)
EliminatedIsNeverReceived ==
  [][Answers("Received") => Is(said'.reply.message, "available")]_vars

(* The same MessageId is received twice: after the window, or under another key. *)
NeverTwice ==
  \A m, n \in Numbers : m # n /\ Is(m, "completed") /\ Is(n, "completed")
    => messages[m].message_id # messages[n].message_id
NeverTwiceUnderOneKey ==  \* after the window only
  \A m, n \in Numbers : m # n /\ Is(m, "completed") /\ Is(n, "completed")
    => messages[m].message_id # messages[n].message_id \/ messages[m].key # messages[n].key
NeverEliminated == \A n \in Numbers : ~Is(n, "eliminated")
NeverEliminatedAfterReceipt ==
  \A m, n \in Numbers : ~(m < n /\ Is(m, "completed") /\ Is(n, "eliminated"))
=================================================================================
