------------------------------ MODULE MCForwarding ------------------------------
(* Chains and cycles of queues, the messages on offer, and where keys lead. *)
EXTENDS Forwarding

Message(session, key, id) ==
  [session_id |-> session, partition_key |-> key, message_id |-> id]

Offered ==
  {Message(None, None, "m"), Message(None, "a", "m"), Message("s", None, "m"),
   Message("s", "a", "m")}
Few == {Message(None, None, "m"), Message(None, "a", "m")}

(* A partitioned queue, a regular one, a partitioned one with duplicate detection. *)
ThreePartitions == [q \in {"q", "r", "d"} |-> IF q = "r" THEN {0} ELSE {0, 1}]
Chain == {<<"q", "r">>, <<"r", "d">>, <<"q", "d">>}
Backwards == {<<"d", "q">>, <<"q", "r">>, <<"r", "d">>}
NoLinks == {}
Cycle == {<<"q", "r">>, <<"r", "q">>}
Itself == {<<"q", "q">>}

Nowhere == [q \in {"q", "r", "d"} |-> None]
ChainOfThree == "q" :> "r" @@ "r" :> "d" @@ "d" :> None
ToPartitioned == "q" :> "d" @@ "d" :> None
ToRegular == "q" :> "r" @@ "r" :> None
ChainOfFive == "a" :> "b" @@ "b" :> "c" @@ "c" :> "d" @@ "d" :> "e" @@ "e" :> None
FivePartitions == [q \in {"a", "b", "c", "d", "e"} |-> IF q \in {"b", "d"} THEN {0} ELSE {0, 1}]
Unkeyed == {Message(None, None, None)}

PlaceOfKey ==
  [where \in {"q", "r", "d"} \X ({"session_id", "partition_key", "message_id"} \X {"s", "a", "m"}) |->
     IF where[1] = "r" THEN 0
     ELSE IF where[1] = "q" THEN (IF where[2][2] = "a" THEN 0 ELSE 1)
     ELSE (IF where[2][2] = "a" THEN 1 ELSE 0)]

DestinationBreaks == {<<"d", 1>>, <<"r", 0>>}
KeyBreaks == {<<"d", 1>>}
CycleBreaks == {<<"q", 0>>, <<"q", 1>>}
NoBreaks == {}
=================================================================================
