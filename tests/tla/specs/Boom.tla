---------------------------------- MODULE Boom ----------------------------------
(* Needs more memory than it is given. *)
EXTENDS Naturals, FiniteSets
VARIABLE x
Init == x = [i \in 1..3000000 |-> <<i, i + 1>>]
Spec == Init /\ [][x' = x]_x
==================================================================================
