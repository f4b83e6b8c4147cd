---------------------------------- MODULE Boom ----------------------------------
(* Needs more memory at once than it is given, so that it need not be filled first. *)
EXTENDS Naturals
VARIABLE x
Init == x = [i \in 1..100000000 |-> i]
Spec == Init /\ [][x' = x]_x
==================================================================================
