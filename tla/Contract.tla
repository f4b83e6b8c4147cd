-------------------------------- MODULE Contract --------------------------------
(* What a client may rely on, and nothing of partitions: each message is given at *)
(* least once while it is unsettled, locks exclude, one key comes in order, and    *)
(* guarantees are lost exactly where the documents say so. A partition's name is   *)
(* only that of an outage here: which messages it hits, a client cannot tell.      *)
EXTENDS Vocabulary

CONSTANTS Partitions, Breakable, Keys, Connections, Modes, Timeouts, PeekCounts,
          MaxMessages, MaxDelivery, LockTicks, Mortal

VARIABLES
  goods,   \* as sent: key, state, count, left, lost
  down,    \* the outages
  hold     \* for how many ticks what each connection's front end was given beside an answer
           \* matters: it may hide something while these are more than LockTicks, and what it
           \* hid may be overtaken until they are over, for others may hold newer ones

vars == <<goods, down, hold, said>>
core == <<goods, down, hold>>
View == core
Brief(g) == <<g.key, g.state, g.count, g.left, g.lost>>
State == [goods |-> [n \in DOMAIN goods |-> Brief(goods[n])], down |-> down, hold |-> hold]
Printed == Edge(State, State')

Ended == {"completed", "dead", "expired"}

Numbers == DOMAIN goods
Is(n, state) == n \in Numbers /\ goods[n].state = state
Held == {n \in Numbers : Is(n, "held")}
Present == {n \in Numbers : goods[n].state \notin Ended}
Outage == down # {}
Reach == 2 * LockTicks
OthersHold(connection) == \E c \in Connections \ {connection} : hold[c] > LockTicks
OthersHeld(connection) == \E c \in Connections \ {connection} : hold[c] > 0
Earlier(n) == {m \in Numbers : m < n /\ goods[m].key = goods[n].key /\ goods[m].key # None}
New(n) == goods[n].count = 0  \* nobody was given it yet
Room == Len(goods) < MaxMessages

Sent(key) == [key |-> key, state |-> "held", count |-> 0, left |-> 0, lost |-> FALSE]
Finished(g, state) == [g EXCEPT !.state = state, !.count = 0, !.left = 0]
Given(g, mode, left) ==
  IF mode = "receive-and-delete" THEN Finished(g, "completed")
  ELSE [g EXCEPT !.state = "locked", !.count = @ + 1, !.left = left]
Returned(g) ==
  [(IF g.count >= MaxDelivery THEN Finished(g, "dead")
    ELSE [g EXCEPT !.state = "held", !.left = 0]) EXCEPT !.lost = TRUE]
Later(g) ==
  IF g.left = 0 THEN g
  ELSE IF g.left > 1 THEN [g EXCEPT !.left = @ - 1] ELSE Returned(g)

Init ==
  /\ goods = << >>
  /\ down = {}
  /\ hold = [c \in Connections |-> 0]
  /\ said = Silence

--------------------------------------------------------------------------------
SendCommand(key, timeout) == [op |-> "Send", key |-> key, timeout |-> timeout]

(* LIFE-01: what was accepted is there. *)
Send(key, timeout) ==
  /\ Room
  /\ goods' = Append(goods, Sent(key))
  /\ UNCHANGED <<down, hold>>
  /\ Says(SendCommand(key, timeout), Done)

(* KEY-03, KEY-15, KEY-18: only an outage refuses a send; without key and with    *)
(* time enough only one of everything. *)
SendRefused(key, timeout) ==
  /\ Room
  /\ IF key = None /\ timeout = "long" THEN down = Partitions ELSE Outage
  /\ UNCHANGED core
  /\ Says(SendCommand(key, timeout), Refused(AnyError))

ReceiveCommand(connection, mode) ==
  [op |-> "Receive", connection |-> connection, mode |-> mode]

(* LIFE-01 to LIFE-03, KEY-16, KEY-17: what is held is given, one key in order as *)
(* long as no other connection can have held an older one back. What was given    *)
(* back may be overtaken: while it was locked, a front end may have been given a   *)
(* newer one (KEY-ORDER).                                                         *)
ReceiveThis(connection, mode, n) ==
  /\ (\E m \in Earlier(n) \intersect Held : New(m)) => OthersHeld(connection)
  /\ \E kept \in {0} \union LockTicks + 1..Reach, left \in 1..LockTicks :
       /\ left = LockTicks \/ left + LockTicks <= hold[connection]
       /\ goods' = [goods EXCEPT ![n] = Given(@, mode, left)]
       /\ hold' = [hold EXCEPT ![connection] = kept]
  /\ UNCHANGED down
  /\ Says(ReceiveCommand(connection, mode), Received(n))

Receive(connection, mode) == \E n \in Held : ReceiveThis(connection, mode, n)

(* LIFE-08, LIFE-09, LIFE-11. What its front end is given too late for the answer, *)
(* that keeps for the next.                                                          *)
ReceiveNothing(connection, mode) ==
  /\ Held = {} \/ OthersHold(connection) \/ Outage
  /\ \E kept \in {hold[connection]} \union (IF Held = {} THEN {} ELSE LockTicks + 1..Reach) :
       hold' = [hold EXCEPT ![connection] = kept]
  /\ UNCHANGED <<goods, down>>
  /\ Says(ReceiveCommand(connection, mode), Empty)

(* LIFE-11 *)
ReceiveRefused(connection, mode) ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, mode), Refused(AnyError))

Settling(op, n, lock) == [op |-> op, message |-> n, lock |-> lock]

(* LIFE-03 *)
Complete(n) ==
  /\ Is(n, "locked")
  /\ goods' = [goods EXCEPT ![n] = [Finished(@, "completed") EXCEPT !.lost = TRUE]]
  /\ UNCHANGED <<down, hold>>
  /\ Says(Settling("Complete", n, "held"), Done)

(* LIFE-04 *)
Abandon(n) ==
  /\ Is(n, "locked")
  /\ goods' = [goods EXCEPT ![n] = Returned(@)]
  /\ UNCHANGED <<down, hold>>
  /\ Says(Settling("Abandon", n, "held"), Done)

(* LIFE-06 *)
SettleLost(op, n) ==
  /\ n \in Numbers
  /\ goods[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, "lost"), Refused("lock-lost"))

(* LIFE-11 *)
SettleRefused(op, n, lock) ==
  /\ Outage
  /\ n \in Numbers
  /\ IF lock = "held" THEN Is(n, "locked") ELSE goods[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, lock), Refused(AnyError))

(* LIFE-07 (A9, F10): some of what is there, the oldest of a key before the next. *)
CanBeShown(shown) ==
  /\ \A i \in DOMAIN shown : shown[i] \in Present
  /\ \A i, j \in DOMAIN shown : i < j => shown[i] < shown[j]
  /\ \A j \in DOMAIN shown : \A m \in Earlier(shown[j]) \intersect Present :
       \E i \in DOMAIN shown : shown[i] = m

Peek(count) ==
  /\ \E shown \in UNION {[1..length -> Present] : length \in 0..count} :
       /\ CanBeShown(shown)
       /\ Says([op |-> "Peek", count |-> count], Peeked(shown))
  /\ UNCHANGED core

PeekRefused(count) ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says([op |-> "Peek", count |-> count], Refused(AnyError))

(* LIFE-05, LIFE-08: locks end, and so does what caches hide. *)
AdvanceClock ==
  /\ goods' = [n \in Numbers |-> Later(goods[n])]
  /\ hold' \in [Connections -> 0..Reach]
  /\ \A c \in Connections : hold'[c] = 0 \/ hold'[c] = hold[c] - 1
  /\ UNCHANGED down
  /\ Says([op |-> "AdvanceClock", what |-> "locks"], Done)

TakePartitionDown(p) ==
  /\ p \notin down
  /\ down' = down \union {p}
  /\ UNCHANGED <<goods, hold>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \in down
  /\ down' = down \ {p}
  /\ UNCHANGED <<goods, hold>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Expire(n) ==
  /\ Is(n, "held")
  /\ goods' = [goods EXCEPT ![n] = Finished(@, "expired")]
  /\ \E c \in Connections, left \in 0..Reach :
       left <= hold[c] /\ hold' = [hold EXCEPT ![c] = left]
  /\ UNCHANGED down
  /\ Says([op |-> "Expire", message |-> n], Done)

Next ==
  \/ \E key \in Keys \union {None}, timeout \in Timeouts :
       Send(key, timeout) \/ SendRefused(key, timeout)
  \/ \E c \in Connections, mode \in Modes :
       Receive(c, mode) \/ ReceiveNothing(c, mode) \/ ReceiveRefused(c, mode)
  \/ \E n \in 1..MaxMessages : Complete(n) \/ Abandon(n)
  \/ \E n \in 1..MaxMessages, op \in {"Complete", "Abandon"} : SettleLost(op, n)
  \/ \E n \in 1..MaxMessages, op \in {"Complete", "Abandon"}, lock \in {"held", "lost"} :
       SettleRefused(op, n, lock)
  \/ \E count \in PeekCounts : Peek(count) \/ PeekRefused(count)
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)
  \/ \E n \in Mortal : Expire(n)

Spec == Init /\ [][Next]_vars

--------------------------------------------------------------------------------
TypeOK ==
  /\ goods \in Seq([key : Keys \union {None}, state : {"held", "locked"} \union Ended,
                    count : 0..MaxDelivery, left : 0..LockTicks, lost : BOOLEAN])
  /\ down \subseteq Partitions
  /\ hold \in [Connections -> 0..Reach]

Got(n) == Answers("Received") /\ said'.reply.message = n

(* LIFE-02: locks exclude. *)
LockedAreNotGiven == [][\A n \in Numbers : Got(n) => Is(n, "held")]_vars

(* LIFE-03, LIFE-05: nothing ends that nobody was given, but by its time to live; *)
(* and what ended stays so. *)
GivenAtLeastOnce ==
  [][\A n \in Numbers :
       /\ goods[n].state \in Ended => goods'[n].state = goods[n].state
       /\ goods'[n].state \in {"completed", "dead"} /\ Is(n, "held") => Got(n)]_vars

(* KEY-17 *)
OneReceiverGetsOneKeyInOrder ==
  [][\A n \in Numbers : Got(n) /\ ~OthersHeld(said'.command.connection)
       => \A m \in Earlier(n) \intersect Held : ~New(m)]_vars

(* LIFE-06, KEY-03 *)
RefusalsChangeNothing == [][Answers("Refused") => core' = core]_vars

(* KEY-03, LIFE-11: without an outage only a lost lock is refused. *)
OnlyOutagesRefuse == [][Answers("Refused") => Outage \/ Refuses("lock-lost")]_vars

(* LIFE-09 *)
EmptyOnlyWhereDocumented ==
  [][Answers("Empty") => Held = {} \/ Outage \/ OthersHold(said'.command.connection)]_vars

NeverEmptyWhileHeld == [][Answers("Empty") /\ ~Outage => Held = {}]_vars
NeverOutOfOrder == [][\A n \in Numbers : Got(n) => Earlier(n) \intersect Held = {}]_vars
NeverShortLock == [][\A n \in Numbers : Got(n) => goods'[n].left \in {0, LockTicks}]_vars
================================================================================
