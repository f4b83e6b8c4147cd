------------------------------- MODULE MCSessions -------------------------------
(* Where sessions lie. *)
EXTENDS Sessions

PlaceOfTwo == [session \in {"s", "t", "u"} |-> IF session = "s" THEN 0 ELSE 1]
=================================================================================
