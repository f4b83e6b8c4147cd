----------------------------- MODULE MCSessionStates -----------------------------
(* Where sessions lie. *)
EXTENDS SessionStates

PlaceOfTwo == [session \in {"s", "t"} |-> IF session = "s" THEN 0 ELSE 1]
==================================================================================
