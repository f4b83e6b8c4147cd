------------------------------ MODULE TraceContract ------------------------------
(* Is a recorded history one that the contract allows? Each trace is a sequence of   *)
(* steps, a command and the replies that it may have had; a step is explained if the *)
(* contract has one that asks the same and gives one of them. One initial state for  *)
(* each trace, so that one run judges them all.                                      *)
EXTENDS Contract

Traces == TLCGet(1)

VARIABLES
  t,  \* which trace
  l   \* how many of its steps are explained

Explained == PrintT("T" \o ToString(<<t, l + 1>>))

TraceInit ==
  /\ Init
  /\ t \in DOMAIN Traces
  /\ l = 0

(* A peek of a recorded history says what was shown; how much of it, nobody need ask. *)
PeekOf(shown) ==
  /\ \A i \in DOMAIN shown : shown[i] \in Present
  /\ UNCHANGED core

(* Many ticks in one step. *)
LaterBy(g, ticks) ==
  IF g.left = 0 THEN g
  ELSE IF g.left > ticks THEN [g EXCEPT !.left = @ - ticks] ELSE Returned(g)
AdvanceBy(ticks) ==
  /\ goods' = [n \in Numbers |-> LaterBy(goods[n], ticks)]
  /\ hold' = [c \in Connections |-> IF hold[c] <= ticks THEN 0 ELSE hold[c] - ticks]
  /\ UNCHANGED down

Performed(c, reply) ==
  \/ c.op = "Send" /\ (Send(c.key, c.timeout) \/ SendRefused(c.key, c.timeout))
  \/ c.op = "Receive" /\
       \/ /\ reply.type = "Received"
          /\ reply.message \in Held
          /\ ReceiveThis(c.connection, c.mode, reply.message)
       \/ ReceiveNothing(c.connection, c.mode)
       \/ ReceiveRefused(c.connection, c.mode)
  \/ c.op = "Complete" /\ c.lock = "held" /\ Complete(c.message)
  \/ c.op = "Abandon" /\ c.lock = "held" /\ Abandon(c.message)
  \/ c.op \in {"Complete", "Abandon"} /\
       \/ c.lock = "lost" /\ SettleLost(c.op, c.message)
       \/ SettleRefused(c.op, c.message, c.lock)
  \/ c.op = "Peek" /\ reply.type = "Peeked" /\ PeekOf(reply.messages)
  \/ c.op = "Peek" /\ reply.type = "Refused" /\ Outage /\ UNCHANGED core
  \/ c.op = "AdvanceClock" /\ AdvanceBy(c.ticks)
  \/ c.op = "TakePartitionDown" /\ TakePartitionDown(c.partition)
  \/ c.op = "BringPartitionUp" /\ BringPartitionUp(c.partition)

TraceNext ==
  /\ l < Len(Traces[t])
  /\ LET step == Traces[t][l + 1] IN
       \E reply \in step.replies :
         /\ said' = [command |-> step.command, reply |-> reply]
         /\ Performed(step.command, reply)
  /\ t' = t
  /\ l' = l + 1
  /\ Explained

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, t, l>>
TraceView == <<core, t, l>>
==================================================================================
