--------------------------- MODULE PartitionedEntity ---------------------------
(* A partitioned queue: partitions, each with its own broker and store, and front *)
(* ends that ask all of them and cache what comes. A connection has a front end   *)
(* of its own. Which partition a key selects is not documented: a CONSTANT says.  *)
EXTENDS Vocabulary

CONSTANTS
  Partitions,   \* their numbers
  Breakable,    \* those that can go down
  Keys,         \* the partition keys in use
  Place,        \* the partition of each key
  Connections,
  Modes,        \* of receiving: "peek-lock", "receive-and-delete"
  Timeouts,     \* of sending: "long" exceeds 15 seconds, "short" does not
  Caching,      \* may a front end keep what it was not asked for?
  PeekCounts,
  MaxMessages,
  MaxDelivery,  \* deliveries until a message is dead-lettered
  LockTicks,    \* ticks of the clock until a lock ends
  Mortal        \* messages whose time to live may end

VARIABLES
  messages,     \* as sent: key, partition, state, count, left, front, lost
  up            \* the partitions that answer

vars == <<messages, up, said>>
core == <<messages, up>>
View == core
Brief(m) == <<m.key, m.partition, m.state, m.count, m.left, m.front, m.lost>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])], up |-> up]
Printed == Edge(State, State')

Ended == {"completed", "dead", "expired"}
States == {"available", "cached", "locked"} \union Ended

Numbers == DOMAIN messages
Is(n, state) == n \in Numbers /\ messages[n].state = state
Holding(state, partition) ==
  {n \in Numbers : Is(n, state) /\ messages[n].partition = partition}
Present(partition) == UNION {Holding(s, partition) : s \in States \ Ended}
Cached(connection) == {n \in Numbers : Is(n, "cached") /\ messages[n].front = connection}
Outage == up # Partitions
Room == Len(messages) < MaxMessages

(* What partitions may answer to a connection: of each key the oldest message that  *)
(* is available, unless its front end still holds an older one; without key any.   *)
Older(n) == {m \in Numbers : m < n /\ messages[m].key = messages[n].key /\ messages[m].key # None}
Heads(connection) ==
  {n \in Numbers :
     /\ Is(n, "available") /\ messages[n].partition \in up
     /\ \A m \in Older(n) : ~Is(m, "available") /\ m \notin Cached(connection)}

(* Beside the one that is given, each other partition may have sent one to be kept. *)
Extras(n, connection) ==
  IF ~Caching THEN {{}}
  ELSE {kept \in SUBSET {m \in Heads(connection) : messages[m].partition # messages[n].partition} :
          \A l, m \in kept : messages[l].partition = messages[m].partition => l = m}

(* A message as it is after something happened to it. *)
Sent(key, partition) ==
  [key |-> key, partition |-> partition, state |-> "available",
   count |-> 0, left |-> 0, front |-> 0, lost |-> FALSE]
Freed(m) == [m EXCEPT !.state = "available", !.left = 0, !.front = 0]
Finished(m, state) == [m EXCEPT !.state = state, !.count = 0, !.left = 0, !.front = 0]
KeptFor(m, connection) ==
  [m EXCEPT !.state = "cached", !.front = connection, !.left = LockTicks]
Given(m, mode) ==
  IF mode = "receive-and-delete" THEN Finished(m, "completed")
  ELSE [m EXCEPT !.state = "locked", !.count = @ + 1, !.front = 0,
                 !.left = IF m.state = "cached" THEN @ ELSE LockTicks]
Returned(m) ==  \* an abandoned lock, or one that ended
  [(IF m.count >= MaxDelivery THEN Finished(m, "dead") ELSE Freed(m)) EXCEPT !.lost = TRUE]
Later(m) ==  \* after a tick
  IF m.left = 0 THEN m
  ELSE IF m.left > 1 THEN [m EXCEPT !.left = @ - 1]
  ELSE IF m.state = "cached" THEN Freed(m) ELSE Returned(m)

Init ==
  /\ messages = << >>
  /\ up = Partitions
  /\ said = Silence

--------------------------------------------------------------------------------
SendCommand(key, timeout) == [op |-> "Send", key |-> key, timeout |-> timeout]

(* KEY-01, KEY-02, KEY-07, KEY-20: the key selects the partition, always. *)
SendKeyed(key, timeout) ==
  /\ Room
  /\ Place[key] \in up
  /\ messages' = Append(messages, Sent(key, Place[key]))
  /\ UNCHANGED up
  /\ Says(SendCommand(key, timeout), DoneIn(Place[key]))

(* KEY-03, KEY-20: no other partition takes it, and nothing is left behind. *)
SendKeyedRefused(key, timeout) ==
  /\ Room
  /\ Place[key] \notin up
  /\ UNCHANGED core
  /\ Says(SendCommand(key, timeout), Refused(AnyError))

(* KEY-01, KEY-14, KEY-15: whichever partition is up takes a message without key. *)
SendUnkeyed(timeout) ==
  /\ Room
  /\ \E p \in up :
       /\ messages' = Append(messages, Sent(None, p))
       /\ Says(SendCommand(None, timeout), DoneIn(p))
  /\ UNCHANGED up

(* KEY-18: 15 s may not be enough to find another partition; and there may be none. *)
SendUnkeyedRefused(timeout) ==
  /\ Room
  /\ IF timeout = "short" THEN Outage ELSE up = {}
  /\ UNCHANGED core
  /\ Says(SendCommand(None, timeout), Refused(AnyError))

ReceiveCommand(connection, mode) ==
  [op |-> "Receive", connection |-> connection, mode |-> mode]

(* LIFE-01, LIFE-02, LIFE-09, KEY-16, KEY-17 (A7): the first answer is given; of  *)
(* the others, those that have come are cached, and locked from then on.          *)
ReceiveFirstAnswer(connection, mode) ==
  /\ \E n \in Heads(connection) :
       \E kept \in Extras(n, connection) :
         /\ messages' = [m \in Numbers |->
              IF m = n THEN Given(messages[m], mode)
              ELSE IF m \in kept THEN KeptFor(messages[m], connection)
              ELSE messages[m]]
         /\ Says(ReceiveCommand(connection, mode), Received(n))
  /\ UNCHANGED up

(* LIFE-01 (A7, F6): a later receive on the same connection is served by the cache. *)
ReceiveFromCache(connection, mode) ==
  /\ \E n \in Cached(connection) :
       /\ messages' = [messages EXCEPT ![n] = Given(@, mode)]
       /\ Says(ReceiveCommand(connection, mode), Received(n))
  /\ UNCHANGED up

(* LIFE-08, LIFE-09, LIFE-11 (F7): nothing is left for this front end, or an outage hides it. *)
ReceiveNothing(connection, mode) ==
  /\ Outage \/ Heads(connection) \union Cached(connection) = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, mode), Empty)

(* LIFE-11: in an outage a receive may be refused. *)
ReceiveRefused(connection, mode) ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, mode), Refused(AnyError))

Settling(op, n, lock) == [op |-> op, message |-> n, lock |-> lock]

(* LIFE-03: what is completed is gone. *)
Complete(n) ==
  /\ Is(n, "locked")
  /\ messages' = [messages EXCEPT ![n] = [Finished(@, "completed") EXCEPT !.lost = TRUE]]
  /\ UNCHANGED up
  /\ Says(Settling("Complete", n, "held"), Done)

(* LIFE-04: what is abandoned is there again, unless it was delivered too often. *)
Abandon(n) ==
  /\ Is(n, "locked")
  /\ messages' = [messages EXCEPT ![n] = Returned(@)]
  /\ UNCHANGED up
  /\ Says(Settling("Abandon", n, "held"), Done)

(* LIFE-06: a lock that ended or was used up settles nothing. *)
SettleLost(op, n) ==
  /\ n \in Numbers
  /\ messages[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, "lost"), Refused("lock-lost"))

(* LIFE-11: in an outage of its partition a settlement may be refused. *)
SettleRefused(op, n, lock) ==
  /\ n \in Numbers
  /\ messages[n].partition \notin up
  /\ IF lock = "held" THEN Is(n, "locked") ELSE messages[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, lock), Refused(AnyError))

(* LIFE-07 (A9, A11, F10): the broker that answers first shows its oldest ones. *)
Peek(count) ==
  /\ \E p \in up :
       Says([op |-> "Peek", count |-> count], Peeked(First(count, Ascending(Present(p)))))
  /\ UNCHANGED core

(* That an outage leaves a peek as it was, is not said. *)
PeekNothing(count) ==
  /\ up = {}
  /\ UNCHANGED core
  /\ Says([op |-> "Peek", count |-> count], Peeked(<< >>))

PeekRefused(count) ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says([op |-> "Peek", count |-> count], Refused(AnyError))

(* LIFE-05, LIFE-08: locks end, those of cached messages too. *)
AdvanceClock ==
  /\ messages' = [n \in Numbers |-> Later(messages[n])]
  /\ UNCHANGED up
  /\ Says([op |-> "AdvanceClock", what |-> "locks"], Done)

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED messages
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED messages
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Expire(n) ==
  /\ Is(n, "available") \/ Is(n, "cached")
  /\ messages' = [messages EXCEPT ![n] = Finished(@, "expired")]
  /\ UNCHANGED up
  /\ Says([op |-> "Expire", message |-> n], Done)

Next ==
  \/ \E key \in Keys, timeout \in Timeouts :
       SendKeyed(key, timeout) \/ SendKeyedRefused(key, timeout)
  \/ \E timeout \in Timeouts : SendUnkeyed(timeout) \/ SendUnkeyedRefused(timeout)
  \/ \E c \in Connections, mode \in Modes :
       \/ ReceiveFirstAnswer(c, mode) \/ ReceiveFromCache(c, mode)
       \/ ReceiveNothing(c, mode) \/ ReceiveRefused(c, mode)
  \/ \E n \in 1..MaxMessages : Complete(n) \/ Abandon(n)
  \/ \E n \in 1..MaxMessages, op \in {"Complete", "Abandon"} : SettleLost(op, n)
  \/ \E n \in 1..MaxMessages, op \in {"Complete", "Abandon"}, lock \in {"held", "lost"} :
       SettleRefused(op, n, lock)
  \/ \E count \in PeekCounts : Peek(count) \/ PeekNothing(count) \/ PeekRefused(count)
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)
  \/ \E n \in Mortal : Expire(n)

Spec == Init /\ [][Next]_vars

(* A consumer that goes on asking, and a clock that goes on. A lock's holder may  *)
(* do as it likes: a lock ends by itself, and after MaxDelivery of them all ends. *)
Fairness ==
  /\ WF_core(AdvanceClock)
  /\ WF_core(\E c \in Connections, mode \in Modes :
               ReceiveFirstAnswer(c, mode) \/ ReceiveFromCache(c, mode))

FairSpec == Spec /\ Fairness
================================================================================
