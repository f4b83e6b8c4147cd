----------------------------- MODULE RegularNumbering -----------------------------
(* What a sequence number tells of a message in an entity that is not partitioned: *)
(* its place in the order of sending, for there is one store to give out numbers.  *)
EXTENDS RegularEntity

Accepted == Asks("Send") /\ Answers("Done")

(* SEQ-03, SEQ-05: whoever comes last has a higher number, which is a new one. *)
NumbersRise ==
  [][Accepted =>
       /\ Len(messages') = Len(messages) + 1
       /\ messages'[Len(messages')].key = said'.command.key
       /\ messages'[Len(messages')].state = "available"]_vars

(* SEQ-03, SEQ-04: no number is given away again, nor does its message get another one. *)
NumbersStay ==
  [][\A n \in Numbers :
       /\ n \in DOMAIN messages'
       /\ messages'[n].key = messages[n].key
       /\ (messages[n].state \in Ended => messages'[n].state \in Ended)]_vars

(* What must be reachable: this must be violated. *)
NeverTwo == Len(messages) < 2
================================================================================
