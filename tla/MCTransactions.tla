----------------------------- MODULE MCTransactions -----------------------------
(* The messages on offer, and where keys lead. *)
EXTENDS Transactions

Message(session, key, id) ==
  [session_id |-> session, partition_key |-> key, message_id |-> id]

PlainProperties ==
  {Message(None, None, None), Message(None, None, "m"), Message(None, "a", None),
   Message(None, "b", None), Message("a", "b", None), Message("a", "a", None)}
SessionProperties ==
  {Message("a", None, None), Message("b", None, None), Message(None, "a", None),
   Message("a", "b", None), Message("a", "a", None)}
KeyedProperties == {Message(None, "a", None), Message(None, "b", None)}
DetectedProperties ==
  {Message(None, None, "m"), Message(None, None, "n"), Message(None, "m", "x")}

PlaceOfKey ==
  [key \in {"session_id", "partition_key", "message_id"} \X {"a", "b", "m", "n"} |->
     IF key[2] \in {"a", "m"} THEN 0 ELSE 1]
PlaceTogether ==
  [key \in {"session_id", "partition_key", "message_id"} \X {"a", "b", "m", "n"} |-> 0]
=================================================================================
