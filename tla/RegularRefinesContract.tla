------------------------- MODULE RegularRefinesContract -------------------------
(* A conventional queue keeps the contract, and hides nothing. *)
EXTENDS RegularEntity

ClientSees(m) ==
  [key |-> m.key, count |-> m.count, lost |-> m.lost, left |-> m.left,
   state |-> IF m.state = "available" THEN "held" ELSE m.state]

Client == INSTANCE Contract
            WITH goods <- [n \in Numbers |-> ClientSees(messages[n])],
                 down <- IF up THEN {} ELSE Partitions,
                 hold <- [c \in Connections |-> 0]

BeginsAsTheContract == Client!Init
KeepsTheContract == [][Client!Next]_(Client!vars)
================================================================================
