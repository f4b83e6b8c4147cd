-------------------------- MODULE MCPartitionedEntity --------------------------
(* Places for keys, which a configuration file cannot write down. *)
EXTENDS PartitionedEntityProps

PlaceOfTwo == [key \in {"a", "b"} |-> IF key = "a" THEN 0 ELSE 1]
PlaceTogether == [key \in {"a", "b"} |-> 0]
================================================================================
