---------------------------------- MODULE Shelf ----------------------------------
(* A small spec of the tests' own: a queue with one store that takes up to Size     *)
(* messages and hands out the oldest, which it forgets at once.                     *)
EXTENDS Naturals, Sequences, TLC

CONSTANTS Size, Forgetful

VARIABLES here, sent, said

vars == <<here, sent, said>>
core == <<here, sent>>
View == core
State == [here |-> here, sent |-> sent]
Printed ==
  PrintT("E~" \o ToString(said'.command) \o "~" \o ToString(said'.reply)
         \o "~" \o ToString(State) \o "~" \o ToString(State'))

Says(command, reply) == said' = [command |-> command, reply |-> reply]

Init ==
  /\ here = << >>
  /\ sent = 0
  /\ said = [command |-> [op |-> "Start"], reply |-> [type |-> "Done"]]

(* KEY-01 *)
Send ==
  /\ sent < Size
  /\ here' = Append(here, sent + 1)
  /\ sent' = sent + 1
  /\ Says([op |-> "Send", key |-> "none"], [type |-> "Done"])

ReceiveCommand == [op |-> "Receive", connection |-> 1, mode |-> "receive-and-delete"]

(* LIFE-01 *)
Receive ==
  /\ here # << >>
  /\ here' = IF Forgetful /\ Len(here) > 1 THEN << >> ELSE Tail(here)
  /\ UNCHANGED sent
  /\ Says(ReceiveCommand, [type |-> "Received", message |-> Head(here)])

(* LIFE-09 *)
ReceiveNothing ==
  /\ here = << >>
  /\ UNCHANGED core
  /\ Says(ReceiveCommand, [type |-> "Empty"])

Idle == FALSE /\ UNCHANGED vars

Next == Send \/ Receive \/ ReceiveNothing \/ Idle
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_core(Receive)

(* KEY-01 *)
TypeOK == here \in Seq(1..Size) /\ sent \in 0..Size
NeverFull == Len(here) < Size
NothingIsLost == [][Len(here') >= Len(here) - 1]_vars
AllAreReceived == \A n \in 1..Size : (sent >= n) ~> (\A i \in DOMAIN here : here[i] # n)
==================================================================================
