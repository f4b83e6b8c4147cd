-------------------------- MODULE MCDuplicateDetection --------------------------
(* The messages on offer, and where keys lead. *)
EXTENDS DuplicateDetection

Message(session, key, id) ==
  [session_id |-> session, partition_key |-> key, message_id |-> id]

ByMessageId == {Message(None, None, "m"), Message(None, None, "n")}
AcrossProperties ==
  {Message(None, None, "m"), Message(None, "a", "m"), Message("b", None, "m")}
Both == ByMessageId \union AcrossProperties

PlaceOfKey ==
  [key \in {"session_id", "partition_key", "message_id"} \X {"a", "b", "m", "n"} |->
     IF key[2] \in {"a", "m"} THEN 0 ELSE 1]
=================================================================================
