----------------------------- MODULE MCPartitionKey -----------------------------
(* The messages on offer, and where keys lead. *)
EXTENDS PartitionKey

Message(session, key, id) ==
  [session_id |-> session, partition_key |-> key, message_id |-> id]

(* Every mixture of a few values. *)
Mixtures(sessions, keys, ids) ==
  {Message(s, k, i) : s \in sessions, k \in keys, i \in ids}

FewProperties == Mixtures({None, "a"}, {None, "a", "b"}, {None, "m"})
EmptyProperties == Mixtures({None, "", "a"}, {None, "", "a"}, {"m"})
DetectedProperties == Mixtures({None, "a"}, {None, "b"}, {"m", "n"})
LibraryProperties == Mixtures({None}, {None, "a"}, {None, "m"})
UnkeyedProperties == {Message(None, None, "m")}

Named == {"session_id", "partition_key", "message_id"}
Values == {"", "a", "b", "m", "n"}

(* By the value alone. *)
PlaceByValue ==
  [key \in Named \X Values |-> IF key[2] \in {"a", "m"} THEN 0 ELSE 1]

(* By property and value. *)
PlaceByProperty ==
  [key \in Named \X Values |->
     IF key[1] = "session_id" THEN (IF key[2] = "a" THEN 1 ELSE 0)
     ELSE IF key[2] \in {"a", "n"} THEN 0 ELSE 1]
=================================================================================
