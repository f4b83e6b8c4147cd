------------------------------ MODULE Vocabulary ------------------------------
(* What a client says and hears, in the words of docs/protocol.md.               *)
(* `said` holds the last command and its reply. Every action writes it and none  *)
(* reads it, so that a configuration may leave it out of its VIEW: it then costs *)
(* no state, and properties of actions still see it on every edge.               *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

VARIABLE said

None == "none"  \* a property that is not set, a key that is not there

Done == [type |-> "Done"]
Empty == [type |-> "Empty"]
DoneIn(partition) == [type |-> "Done", partition |-> partition]
Received(message) == [type |-> "Received", message |-> message]
Peeked(messages) == [type |-> "Peeked", messages |-> messages]
Refused(error) == [type |-> "Refused", error |-> error]

AnyError == "any"  \* the documents name none

Silence == [command |-> [op |-> "Start"], reply |-> Done]

Says(command, reply) == said' = [command |-> command, reply |-> reply]

Asks(op) == said'.command.op = op
Answers(type) == said'.reply.type = type
Refuses(error) == Answers("Refused") /\ said'.reply.error = error

Least(numbers) == CHOOSE n \in numbers : \A m \in numbers : n <= m
Greatest(numbers) == CHOOSE n \in numbers : \A m \in numbers : n >= m
AtMost(n, m) == IF n < m THEN n ELSE m

RECURSIVE Ascending(_)
Ascending(numbers) ==  \* the numbers as a sequence, the least first
  IF numbers = {} THEN << >>
  ELSE <<Least(numbers)>> \o Ascending(numbers \ {Least(numbers)})

First(count, sequence) == SubSeq(sequence, 1, AtMost(count, Len(sequence)))

(* One line for one edge, in graph configurations. *)
Edge(state, next) ==
  PrintT("E~" \o ToString(said'.command) \o "~" \o ToString(said'.reply)
         \o "~" \o ToString(state) \o "~" \o ToString(next))
===============================================================================
