-------------------------------- MODULE Lab --------------------------------
(* The rules of the lab, on a page: a queue with partitions, of which some   *)
(* may be down. README.md says each of them in words.                        *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Partitions, Keys, MaxMessages

NoKey == "none"

VARIABLES
  held,  \* partition -> the messages in it, in the order of arrival
  down,  \* the partitions that are down
  home,  \* key -> its partition, which the service chooses once
  sent,  \* how many messages were accepted so far
  got    \* the messages that were received, in that order

vars == <<held, down, home, sent, got>>

Init ==
  /\ held = [p \in Partitions |-> <<>>]
  /\ down = {}
  /\ home \in [Keys -> Partitions]
  /\ sent = 0
  /\ got = <<>>

Put(p, key) ==
  /\ held' = [held EXCEPT ![p] = Append(@, [number |-> sent + 1, key |-> key])]
  /\ sent' = sent + 1
  /\ UNCHANGED <<down, home, got>>

(* KEY-02, KEY-03: a key has one partition; while that is down, no other one *)
(* takes its messages, so the send is refused and nothing changes.           *)
SendKeyed(key) ==
  /\ sent < MaxMessages
  /\ home[key] \notin down
  /\ Put(home[key], key)

(* KEY-15: without a key, any partition that is up takes it.                 *)
SendUnkeyed ==
  /\ sent < MaxMessages
  /\ \E p \in Partitions \ down : Put(p, NoKey)

(* KEY-17: within a partition the oldest comes first.                        *)
Receive ==
  \E p \in Partitions \ down :
    /\ held[p] # <<>>
    /\ got' = Append(got, Head(held[p]))
    /\ held' = [held EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<down, home, sent>>

GoDown ==
  \E p \in Partitions \ down :
    /\ down' = down \cup {p}
    /\ UNCHANGED <<held, home, sent, got>>

(* PART-04: what a partition held is there when it is up again.              *)
ComeUp ==
  \E p \in down :
    /\ down' = down \ {p}
    /\ UNCHANGED <<held, home, sent, got>>

Next ==
  \/ \E key \in Keys : SendKeyed(key)
  \/ SendUnkeyed
  \/ Receive
  \/ GoDown
  \/ ComeUp

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

Messages(line) == {line[n] : n \in 1..Len(line)}

AllMessages == UNION ({Messages(held[p]) : p \in Partitions} \cup {Messages(got)})

(* Nothing is lost, whatever went down: PART-04.                             *)
NothingIsLost == {message.number : message \in AllMessages} = 1..sent

(* Nothing is there twice.                                                   *)
NothingIsTwice ==
  Len(got) + Cardinality(UNION {{<<p, n>> : n \in 1..Len(held[p])} : p \in Partitions})
    = Cardinality(AllMessages)

(* KEY-02: messages with one key are in one partition.                       *)
OneHome ==
  \A p \in Partitions : \A message \in Messages(held[p]) :
    message.key # NoKey => home[message.key] = p

(* KEY-17: messages with one key are received in the order of sending.       *)
InOrder ==
  \A m, n \in 1..Len(got) :
    m < n /\ got[m].key = got[n].key /\ got[m].key # NoKey => got[m].number < got[n].number
=============================================================================
