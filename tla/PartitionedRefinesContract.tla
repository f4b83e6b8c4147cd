----------------------- MODULE PartitionedRefinesContract -----------------------
(* A partitioned queue keeps the contract: what a front end has cached is held for *)
(* the client, and hides for as long as its locks last.                            *)
EXTENDS MCPartitionedEntity

ClientSees(m) ==
  [key |-> m.key, count |-> m.count, lost |-> m.lost,
   state |-> IF m.state \in {"available", "cached"} THEN "held" ELSE m.state,
   left |-> IF m.state = "cached" THEN 0 ELSE m.left]

ClientGoods == [n \in Numbers |-> ClientSees(messages[n])]

ClientHold ==
  [c \in Connections |->
    IF Cached(c) = {} THEN 0 ELSE LockTicks + Greatest({messages[n].left : n \in Cached(c)})]

ClientSaid ==  \* where a message went, a client need not be told
  IF said.command.op = "Send" /\ said.reply.type = "Done" THEN [said EXCEPT !.reply = Done]
  ELSE said

Client == INSTANCE Contract
            WITH goods <- ClientGoods, down <- Partitions \ up, hold <- ClientHold,
                 said <- ClientSaid

BeginsAsTheContract == Client!Init
KeepsTheContract == [][Client!Next]_(Client!vars)
================================================================================
