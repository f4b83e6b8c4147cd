-------------------------------- MODULE Numbering --------------------------------
(* What a sequence number tells of a message in a partitioned entity. The spec's   *)
(* numbers are places in the order of sending; of a partition's messages that is   *)
(* the order in which it took them.                                                *)
EXTENDS MCPartitionedEntity

Accepted == Asks("Send") /\ Answers("Done")

(* SEQ-01, SEQ-03 (A11): whoever comes last has a higher number, which is a new one. *)
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
       /\ messages'[n].partition = messages[n].partition
       /\ (messages[n].state \in Ended => messages'[n].state \in Ended)]_vars

(* What must be reachable: this must be violated. *)
NeverTwoInOnePartition ==
  \A m, n \in Numbers : m # n => messages[m].partition # messages[n].partition
================================================================================
