------------------------------- MODULE Forwarding -------------------------------
(* Automatic forwarding between queues, partitioned or not: the key of a message is *)
(* used again at its destination, chains are bounded, and cycles come to an end.    *)
(* E1 to E3 are the documents'; the bound of hops comes from outside of them.       *)
EXTENDS Vocabulary

CONSTANTS
  Queues,
  PartitionsOf,   \* of each queue; a regular one has one
  Detecting,      \* queues with duplicate detection
  SessionAware,   \* queues that require sessions
  Initially,      \* of each queue: to which it forwards since its creation, or none
  Links,          \* pairs of queues: which may be forwarded to which, later
  Place,          \* the partition of a key, by queue, property and value
  Properties,     \* the messages on offer
  Breakable,      \* pairs of a queue and a partition
  Stoppable,      \* queues whose forwarding may be ended
  MaxHops,
  MaxMessages

VARIABLES
  messages,  \* as accepted: what was sent, queue, partition, hops, state
  forward,   \* of each queue: to which it forwards, or none
  down,      \* pairs of a queue and a partition
  seen       \* what queues with duplicate detection remember: queue, key, MessageId

vars == <<messages, forward, down, seen, said>>
core == <<messages, forward, down, seen>>
View == core
Brief(m) == <<m.sent.session_id, m.sent.partition_key, m.sent.message_id,
              m.queue, m.partition, m.hops, m.state>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])],
          forward |-> forward, down |-> down, seen |-> seen]
Printed == Edge(State, State')

Numbers == DOMAIN messages
Is(n, state) == n \in Numbers /\ messages[n].state = state
Room == Len(messages) < MaxMessages

(* KEY-04, KEY-07, KEY-10, at each queue anew (E3). *)
NoKey == <<None, None>>
KeyAt(queue, m) ==
  IF m.session_id # None THEN <<"session_id", m.session_id>>
  ELSE IF m.partition_key # None THEN <<"partition_key", m.partition_key>>
  ELSE IF queue \in Detecting THEN <<"message_id", m.message_id>> ELSE NoKey

Working(queue) == {p \in PartitionsOf[queue] : <<queue, p>> \notin down}
IsPartitioned(queue) == Cardinality(PartitionsOf[queue]) > 1
PlacesAt(queue, m) ==
  IF ~IsPartitioned(queue) \/ KeyAt(queue, m) = NoKey THEN PartitionsOf[queue]
  ELSE {Place[<<queue, KeyAt(queue, m)>>]}
TakersAt(queue, m) == PlacesAt(queue, m) \intersect Working(queue)

(* KEY-11, at the destination too. Under another key a copy may be one or not. *)
Trace(queue, m) == <<queue, KeyAt(queue, m), m.message_id>>
MustDrop(queue, m) == queue \in Detecting /\ Trace(queue, m) \in seen
MayDrop(queue, m) ==
  queue \in Detecting /\ \E trace \in seen : trace[1] = queue /\ trace[3] = m.message_id
Remembered(queue, m) == IF queue \in Detecting THEN seen \union {Trace(queue, m)} ELSE seen
(* What may become of a message that enters a queue. *)
Fates(queue, m) ==
  (IF MustDrop(queue, m) THEN {} ELSE {"here"}) \union (IF MayDrop(queue, m) THEN {"dropped"} ELSE {})

(* What a queue cannot take at all. *)
Unfit(queue, m) ==
  \/ queue \in SessionAware /\ m.session_id = None
  \/ IsPartitioned(queue) /\ m.session_id # None /\ m.partition_key # None
       /\ m.session_id # m.partition_key

Destination(n) == forward[messages[n].queue]
OnItsWay(n) == Is(n, "here") /\ Destination(n) # None
Reachable(n) == <<messages[n].queue, messages[n].partition>> \notin down

Init ==
  /\ messages = << >>
  /\ forward = Initially
  /\ down = {}
  /\ seen = {}
  /\ said = Silence

---------------------------------------------------------------------------------
(* E1, E2: switched on at the source, at an update; between any two kinds of queue. *)
UpdateCommand(source, destination) ==
  [op |-> "UpdateQueue", queue |-> source, forward_to |-> destination]

StartForwarding(source, destination) ==
  /\ forward[source] = None
  /\ source \notin SessionAware
  /\ forward' = [forward EXCEPT ![source] = destination]
  /\ UNCHANGED <<messages, down, seen>>
  /\ Says(UpdateCommand(source, destination), Done)

(* From outside of the documents: a queue that requires sessions is no source. *)
StartForwardingRefused(source, destination) ==
  /\ source \in SessionAware
  /\ UNCHANGED core
  /\ Says(UpdateCommand(source, destination), Refused(AnyError))

(* E2: and ended by an update. *)
StopForwarding(source) ==
  /\ source \in Stoppable
  /\ forward[source] # None
  /\ forward' = [forward EXCEPT ![source] = None]
  /\ UNCHANGED <<messages, down, seen>>
  /\ Says(UpdateCommand(source, None), Done)

SendCommand(queue, m) ==
  [op |-> "Send", queue |-> queue, session_id |-> m.session_id,
   partition_key |-> m.partition_key, message_id |-> m.message_id]

(* KEY-01 to KEY-03, KEY-15, as anywhere. *)
Send(queue, m) ==
  /\ Room
  /\ ~Unfit(queue, m)
  /\ \E p \in TakersAt(queue, m) :
       \E fate \in Fates(queue, m) :
         /\ messages' = Append(messages,
              [sent |-> m, queue |-> queue, partition |-> p, hops |-> 0, state |-> fate])
         /\ Says(SendCommand(queue, m), IF IsPartitioned(queue) THEN DoneIn(p) ELSE Done)
  /\ seen' = Remembered(queue, m)
  /\ UNCHANGED <<forward, down>>

SendRefused(queue, m) ==
  /\ Room
  /\ Unfit(queue, m) \/ TakersAt(queue, m) = {}
  /\ UNCHANGED core
  /\ Says(SendCommand(queue, m), Refused(AnyError))

Moving(n) == [op |-> "Forward", message |-> n]

(* E1, E3: the destination puts it where its key leads there. *)
Forward(n) ==
  /\ OnItsWay(n)
  /\ Reachable(n)
  /\ messages[n].hops < MaxHops
  /\ ~Unfit(Destination(n), messages[n].sent)
  /\ \E p \in TakersAt(Destination(n), messages[n].sent) :
       \E fate \in Fates(Destination(n), messages[n].sent) :
         messages' = [messages EXCEPT ![n] =
           [@ EXCEPT !.queue = Destination(n), !.partition = p, !.hops = @ + 1, !.state = fate]]
  /\ seen' = Remembered(Destination(n), messages[n].sent)
  /\ UNCHANGED <<forward, down>>
  /\ Says(Moving(n), Done)

DeadLetter(n) ==
  /\ messages' = [messages EXCEPT ![n].state = "dead"]
  /\ UNCHANGED <<forward, down, seen>>
  /\ Says(Moving(n), Done)

(* Passed on too often: dead-lettered where it is, so that a cycle ends. *)
ForwardTooFar(n) ==
  /\ OnItsWay(n)
  /\ Reachable(n)
  /\ messages[n].hops = MaxHops
  /\ DeadLetter(n)

(* E3, KEY-08, TXN-06: a destination that cannot take it. *)
ForwardUnfit(n) ==
  /\ OnItsWay(n)
  /\ Reachable(n)
  /\ messages[n].hops < MaxHops
  /\ Unfit(Destination(n), messages[n].sent)
  /\ DeadLetter(n)

ReceiveCommand(queue, from) ==
  [op |-> "Receive", connection |-> 1, mode |-> "receive-and-delete", queue |-> queue, from |-> from]
Outage(queue) == Working(queue) # PartitionsOf[queue]
Receivable(queue) ==
  {n \in Numbers : Is(n, "here") /\ messages[n].queue = queue /\ Reachable(n)}

(* KEY-17: of a key in order; what was passed on may have come at any time. *)
KeyOf(n) == KeyAt(messages[n].queue, messages[n].sent)
SentTo(n, queue) == Is(n, "here") /\ messages[n].queue = queue /\ messages[n].hops = 0
Overtakes(n, m) ==
  /\ m < n /\ KeyOf(m) = KeyOf(n) /\ KeyOf(n) # NoKey
  /\ \A each \in {n, m} : SentTo(each, messages[n].queue)

(* LIFE-01: received at the end of the chain. *)
Receive(queue) ==
  /\ forward[queue] = None
  /\ \E n \in Receivable(queue) :
       /\ IsPartitioned(queue) => \A m \in Numbers : ~Overtakes(n, m)
       /\ messages' = [messages EXCEPT ![n].state = "completed"]
       /\ Says(ReceiveCommand(queue, "queue"), Received(n))
  /\ UNCHANGED <<forward, down, seen>>

(* LIFE-09, LIFE-11 *)
ReceiveNothing(queue) ==
  /\ forward[queue] = None
  /\ Outage(queue) \/ Receivable(queue) = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(queue, "queue"), Empty)

(* LIFE-11 *)
ReceiveRefused(queue) ==
  /\ forward[queue] = None
  /\ Outage(queue)
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(queue, "queue"), Refused(AnyError))

(* From outside of the documents: a queue that forwards gives no messages itself. *)
ReceiveFromSource(queue) ==
  /\ forward[queue] # None
  /\ UNCHANGED core
  /\ \E reply \in {Empty, Refused(AnyError)} : Says(ReceiveCommand(queue, "queue"), reply)

(* DLQ-07, FWD-18: what was given up on its way is found where it came to its end. *)
Dead(queue) == {n \in Numbers : Is(n, "dead") /\ messages[n].queue = queue}

ReceiveDead(queue) ==
  /\ \E n \in Dead(queue) :
       /\ Reachable(n)
       /\ messages' = [messages EXCEPT ![n].state = "removed"]
       /\ Says(ReceiveCommand(queue, "dead-letter queue"), Received(n))
  /\ UNCHANGED <<forward, down, seen>>

ReceiveDeadNothing(queue) ==
  /\ Outage(queue) \/ Dead(queue) = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(queue, "dead-letter queue"), Empty)

(* DLQ-13 *)
ReceiveDeadRefused(queue) ==
  /\ Outage(queue)
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(queue, "dead-letter queue"), Refused(AnyError))

TakePartitionDown(queue, p) ==
  /\ <<queue, p>> \notin down
  /\ down' = down \union {<<queue, p>>}
  /\ UNCHANGED <<messages, forward, seen>>
  /\ Says([op |-> "TakePartitionDown", queue |-> queue, partition |-> p], Done)

BringPartitionUp(queue, p) ==
  /\ <<queue, p>> \in down
  /\ down' = down \ {<<queue, p>>}
  /\ UNCHANGED <<messages, forward, seen>>
  /\ Says([op |-> "BringPartitionUp", queue |-> queue, partition |-> p], Done)

Next ==
  \/ \E link \in Links :
       StartForwarding(link[1], link[2]) \/ StartForwardingRefused(link[1], link[2])
  \/ \E q \in Queues : StopForwarding(q)
  \/ \E q \in Queues, m \in Properties : Send(q, m) \/ SendRefused(q, m)
  \/ \E n \in 1..MaxMessages : Forward(n) \/ ForwardTooFar(n) \/ ForwardUnfit(n)
  \/ \E q \in Queues :
       \/ Receive(q) \/ ReceiveNothing(q) \/ ReceiveRefused(q) \/ ReceiveFromSource(q)
       \/ ReceiveDead(q) \/ ReceiveDeadNothing(q) \/ ReceiveDeadRefused(q)
  \/ \E where \in Breakable :
       TakePartitionDown(where[1], where[2]) \/ BringPartitionUp(where[1], where[2])

Spec == Init /\ [][Next]_vars

(* What can be passed on is, in time. *)
Fairness ==
  \A n \in 1..MaxMessages : WF_core(Forward(n) \/ ForwardTooFar(n) \/ ForwardUnfit(n))
FairSpec == Spec /\ Fairness

---------------------------------------------------------------------------------
TypeOK ==
  /\ \A n \in Numbers :
       /\ messages[n].queue \in Queues
       /\ messages[n].partition \in PartitionsOf[messages[n].queue]
       /\ messages[n].state \in {"here", "completed", "dead", "removed", "dropped"}
  /\ \A q \in Queues : forward[q] \in Queues \union {None}

HopsAreBounded == \A n \in Numbers : messages[n].hops <= MaxHops

(* E3, KEY-02, KEY-10, KEY-12 *)
KeyLeadsAtEveryQueue ==
  \A n \in Numbers :
    LET m == messages[n] IN
      IsPartitioned(m.queue) /\ KeyAt(m.queue, m.sent) # NoKey
        => m.partition = Place[<<m.queue, KeyAt(m.queue, m.sent)>>]

(* E1: forwarding moves a message, and leaves no copy; nothing is lost on the way. *)
ForwardingMovesOne ==
  [][Asks("Forward") => LET n == said'.command.message IN
       /\ Numbers' = Numbers
       /\ \A m \in Numbers \ {n} : messages'[m] = messages[m]
       /\ messages'[n].sent = messages[n].sent
       /\ IF messages'[n].state = "dead" THEN messages'[n].queue = messages[n].queue
          ELSE messages'[n].queue = Destination(n)]_vars

(* KEY-11: only a copy is dropped, and no copy of one key stays. *)
CopiesAreDropped ==
  [][\A n \in DOMAIN messages' :
       LET m == messages'[n] IN
         /\ m.state = "dropped" /\ ~Is(n, "dropped") => MayDrop(m.queue, m.sent)
         /\ MustDrop(m.queue, m.sent) /\ m.state = "here"
              => n \in Numbers /\ messages[n].queue = m.queue]_vars

(* E2 *)
UpdatesTakeEffect ==
  [][Asks("UpdateQueue") /\ Answers("Done")
       => forward'[said'.command.queue] = said'.command.forward_to]_vars

(* From outside of the documents: what is forwarded is received at its destination only. *)
Gives(from) == Answers("Received") /\ said'.command.from = from
SourcesGiveNothing == [][Gives("queue") => forward[said'.command.queue] = None]_vars
KeysComeInOrder ==
  [][Gives("queue") /\ IsPartitioned(said'.command.queue)
       => \A m \in Numbers : ~Overtakes(said'.reply.message, m)]_vars
OnlyTheDeadAreAmongTheDead ==
  [][Gives("dead-letter queue") => Is(said'.reply.message, "dead")]_vars

(* Only what went too far or is unfit is dead-lettered on its way. *)
DeadForAReason ==
  [][\A n \in Numbers : ~Is(n, "dead") /\ messages'[n].state = "dead" =>
       messages[n].hops = MaxHops \/ Unfit(Destination(n), messages[n].sent)]_vars

(* KEY-20: an outage at the destination keeps a keyed message waiting. *)
KeyedWaitForTheirPartition ==
  [][\A n \in Numbers : messages'[n].queue # messages[n].queue =>
       <<messages'[n].queue, messages'[n].partition>> \notin down]_vars

Healed == <>[](down = {})
ComeToRest ==
  Healed => \A n \in 1..MaxMessages : (n \in Numbers) ~> (n \in Numbers /\ ~OnItsWay(n))

NeverForwardedToPartitioned ==
  \A n \in Numbers : messages[n].hops > 0 => ~IsPartitioned(messages[n].queue)
NeverForwardedToRegular ==
  \A n \in Numbers : messages[n].hops > 0 => IsPartitioned(messages[n].queue)
NeverTooFar == \A n \in Numbers : ~(Is(n, "dead") /\ messages[n].hops = MaxHops)
NeverUnfit == \A n \in Numbers : ~(Is(n, "dead") /\ messages[n].hops < MaxHops)
NeverAcross ==  \* E3: a key's partition at the destination is another one
  [][\A n \in Numbers : messages'[n].queue # messages[n].queue
       => messages'[n].partition = messages[n].partition]_vars
NeverWaiting ==
  \A n \in Numbers : OnItsWay(n) /\ messages[n].hops < MaxHops
    => TakersAt(Destination(n), messages[n].sent) # {}
NeverDropped == \A n \in Numbers : ~(Is(n, "dropped") /\ messages[n].hops > 0)
NeverStopped == [][\A q \in Queues : forward[q] # None => forward'[q] # None]_vars
NeverAtTheEnd == \A n \in Numbers : ~(Is(n, "completed") /\ messages[n].hops > 0)
=================================================================================
