------------------------------- MODULE MCSessions -------------------------------
(* Where sessions lie. *)
EXTENDS SessionsProps

PlaceOfTwo == [session \in {"s", "t", "u"} |-> IF session = "s" THEN 0 ELSE 1]
=================================================================================
