------------------------------ MODULE RegularEntity ------------------------------
(* A conventional queue: one broker, one store, no key that leads anywhere. Its     *)
(* outage hits everything (F13); the store is called partition 0 where it goes down. *)
EXTENDS Vocabulary

CONSTANTS Breakable, Keys, Connections, Modes, Timeouts, PeekCounts,
          MaxMessages, MaxDelivery, LockTicks, Mortal

Partitions == {0}

VARIABLES
  messages,  \* as sent: key, state, count, left, lost
  up         \* does the store answer?

vars == <<messages, up, said>>
core == <<messages, up>>
View == core
Brief(m) == <<m.key, m.state, m.count, m.left, m.lost>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])], up |-> up]
Printed == Edge(State, State')

Ended == {"completed", "dead", "expired"}
States == {"available", "locked"} \union Ended

Numbers == DOMAIN messages
Is(n, state) == n \in Numbers /\ messages[n].state = state
Available == {n \in Numbers : Is(n, "available")}
Present == {n \in Numbers : messages[n].state \notin Ended}
Room == Len(messages) < MaxMessages

Sent(key) == [key |-> key, state |-> "available", count |-> 0, left |-> 0, lost |-> FALSE]
Finished(m, state) == [m EXCEPT !.state = state, !.count = 0, !.left = 0]
Given(m, mode) ==
  IF mode = "receive-and-delete" THEN Finished(m, "completed")
  ELSE [m EXCEPT !.state = "locked", !.count = @ + 1, !.left = LockTicks]
Returned(m) ==
  [(IF m.count >= MaxDelivery THEN Finished(m, "dead")
    ELSE [m EXCEPT !.state = "available", !.left = 0]) EXCEPT !.lost = TRUE]
Later(m) ==
  IF m.left = 0 THEN m
  ELSE IF m.left > 1 THEN [m EXCEPT !.left = @ - 1] ELSE Returned(m)

Init ==
  /\ messages = << >>
  /\ up = TRUE
  /\ said = Silence

--------------------------------------------------------------------------------
SendCommand(key, timeout) == [op |-> "Send", key |-> key, timeout |-> timeout]

(* A1, LIFE-01 *)
Send(key, timeout) ==
  /\ Room
  /\ up
  /\ messages' = Append(messages, Sent(key))
  /\ UNCHANGED up
  /\ Says(SendCommand(key, timeout), Done)

(* F13: there is no other store to go to. *)
SendRefused(key, timeout) ==
  /\ Room
  /\ ~up
  /\ UNCHANGED core
  /\ Says(SendCommand(key, timeout), Refused(AnyError))

ReceiveCommand(connection, mode) ==
  [op |-> "Receive", connection |-> connection, mode |-> mode]

(* LIFE-01, LIFE-02, LIFE-09: the oldest that is available. *)
Receive(connection, mode) ==
  /\ up
  /\ Available # {}
  /\ messages' = [messages EXCEPT ![Least(Available)] = Given(@, mode)]
  /\ UNCHANGED up
  /\ Says(ReceiveCommand(connection, mode), Received(Least(Available)))

(* LIFE-09, LIFE-11 *)
ReceiveNothing(connection, mode) ==
  /\ ~up \/ Available = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, mode), Empty)

(* LIFE-11 *)
ReceiveRefused(connection, mode) ==
  /\ ~up
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(connection, mode), Refused(AnyError))

Settling(op, n, lock) == [op |-> op, message |-> n, lock |-> lock]

(* LIFE-03 *)
Complete(n) ==
  /\ Is(n, "locked")
  /\ messages' = [messages EXCEPT ![n] = [Finished(@, "completed") EXCEPT !.lost = TRUE]]
  /\ UNCHANGED up
  /\ Says(Settling("Complete", n, "held"), Done)

(* LIFE-04 *)
Abandon(n) ==
  /\ Is(n, "locked")
  /\ messages' = [messages EXCEPT ![n] = Returned(@)]
  /\ UNCHANGED up
  /\ Says(Settling("Abandon", n, "held"), Done)

(* LIFE-06 *)
SettleLost(op, n) ==
  /\ n \in Numbers
  /\ messages[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, "lost"), Refused("lock-lost"))

(* LIFE-11 *)
SettleRefused(op, n, lock) ==
  /\ ~up
  /\ n \in Numbers
  /\ IF lock = "held" THEN Is(n, "locked") ELSE messages[n].lost
  /\ UNCHANGED core
  /\ Says(Settling(op, n, lock), Refused(AnyError))

(* LIFE-07 (A9): always the oldest. *)
Peek(count) ==
  /\ up
  /\ UNCHANGED core
  /\ Says([op |-> "Peek", count |-> count], Peeked(First(count, Ascending(Present))))

PeekNothing(count) ==
  /\ ~up
  /\ UNCHANGED core
  /\ Says([op |-> "Peek", count |-> count], Peeked(<< >>))

PeekRefused(count) ==
  /\ ~up
  /\ UNCHANGED core
  /\ Says([op |-> "Peek", count |-> count], Refused(AnyError))

(* LIFE-05 *)
AdvanceClock ==
  /\ messages' = [n \in Numbers |-> Later(messages[n])]
  /\ UNCHANGED up
  /\ Says([op |-> "AdvanceClock", what |-> "locks"], Done)

TakePartitionDown(p) ==
  /\ up
  /\ up' = FALSE
  /\ UNCHANGED messages
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ ~up
  /\ up' = TRUE
  /\ UNCHANGED messages
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Expire(n) ==
  /\ Is(n, "available")
  /\ messages' = [messages EXCEPT ![n] = Finished(@, "expired")]
  /\ UNCHANGED up
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
  \/ \E count \in PeekCounts : Peek(count) \/ PeekNothing(count) \/ PeekRefused(count)
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)
  \/ \E n \in Mortal : Expire(n)

Spec == Init /\ [][Next]_vars

Fairness ==
  /\ WF_core(AdvanceClock)
  /\ WF_core(\E c \in Connections, mode \in Modes : Receive(c, mode))

FairSpec == Spec /\ Fairness

--------------------------------------------------------------------------------
TypeOK ==
  /\ messages \in Seq([key : Keys \union {None}, state : States, count : 0..MaxDelivery,
                       left : 0..LockTicks, lost : BOOLEAN])
  /\ up \in BOOLEAN

Got(n) == Answers("Received") /\ said'.reply.message = n

(* What a partitioned queue does not give, a conventional one does. *)

ReceivedInTheOrderOfSending ==
  [][\A m, n \in Numbers : m < n /\ Got(n) => m \notin Available]_vars

(* A9 *)
PeekShowsTheOldestOfAll ==
  [][Answers("Peeked") /\ up /\ Present # {} =>
       said'.reply.messages # << >> /\ said'.reply.messages[1] = Least(Present)]_vars

(* F7 *)
ReceiveFindsWhateverIsThere == [][Answers("Empty") /\ up => Available = {}]_vars

(* LIFE-06 *)
RefusalsChangeNothing == [][Answers("Refused") => core' = core]_vars

Healed == <>[](up = TRUE)
AllEnd == \A n \in 1..MaxMessages : (n \in Numbers) ~> (n \in Numbers /\ messages[n].state \in Ended)
HealedMessagesEnd == Healed => AllEnd

(* Must be reachable. *)
NeverRefused == [][~Refuses(AnyError)]_vars
NeverDead == \A n \in Numbers : ~Is(n, "dead")
================================================================================
