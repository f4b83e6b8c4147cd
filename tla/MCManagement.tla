------------------------------ MODULE MCManagement ------------------------------
(* Where keys lead. *)
EXTENDS Management

PlaceOfTwo == [key \in {"a", "b"} |-> IF key = "a" THEN 0 ELSE 1]
=================================================================================
