-------------------------------- MODULE TimeToLive --------------------------------
(* Messages that live for a while: each for as long as it or its entity says, the     *)
(* shorter of the two. What has died is given to nobody, unless a front end has it in *)
(* its cache, and whoever holds it locked can still settle it. When it is removed,    *)
(* nobody says: it may take any time.                                                 *)
EXTENDS Vocabulary

CONSTANTS
  Partitions, Breakable,
  MaxMessages,
  Forever,     \* longer than any time to live, which are in ticks of the clock
  Lives,       \* times to live that messages ask for
  EntityLife,  \* and that of their entity
  Buries,      \* whether the entity dead-letters what has died
  LockTicks,   \* how long locks last, and caches
  MaxDelay

VARIABLES
  messages,  \* partition, place, asked, age, lock, cached, due, reason, late
  up

vars == <<messages, up, said>>
core == <<messages, up>>
View == core

Numbers == DOMAIN messages
Places == {"scheduled", "active", "locked", "deferred", "dead", "gone"}
In(place) == {n \in Numbers : messages[n].place = place}
Hit(n) == messages[n].partition \notin up
Outage == up # Partitions
Room == Len(messages) < MaxMessages
Expiry == "TTLExpiredException"

(* TTL-03, TTL-04: the shorter time counts, and for ever is longer than any. *)
Life(n) == AtMost(messages[n].asked, EntityLife)
Alive(n) == messages[n].age < Life(n)

Init ==
  /\ messages = << >>
  /\ up = Partitions
  /\ said = Silence

Entered(partition, place, asked, due) ==
  /\ messages' = Append(messages, [partition |-> partition, place |-> place, asked |-> asked,
                                   age |-> 0, lock |-> 0, cached |-> 0, due |-> due,
                                   reason |-> None, late |-> FALSE])
  /\ UNCHANGED up

Moves(n, place) == messages' = [messages EXCEPT ![n].place = place, ![n].lock = 0]

-----------------------------------------------------------------------------------
Send(life) ==
  /\ Room
  /\ \E p \in up :
       /\ Entered(p, "active", life, 0)
       /\ Says([op |-> "Send", life |-> life], DoneIn(p))

Schedule(life, delay) ==
  /\ Room
  /\ \E p \in up : Entered(p, "scheduled", life, delay)
  /\ Says([op |-> "Schedule", life |-> life, delay |-> delay], Done)

(* TTL-12: it lives from when it is active. *)
Arrive(n) ==
  /\ n \in In("scheduled")
  /\ messages[n].due = 0
  /\ Moves(n, "active")
  /\ UNCHANGED up
  /\ Says([op |-> "Arrive", message |-> n], Done)

(* TTL-14: while a message is given, a front end may take others that are alive into its cache. *)
Locked(n, others) ==
  [m \in Numbers |->
     IF m = n THEN [messages[n] EXCEPT !.place = "locked", !.lock = LockTicks, !.cached = 0]
     ELSE IF m \in others THEN [messages[m] EXCEPT !.cached = LockTicks]
     ELSE messages[m]]

Cachable(n) == {m \in In("active") \ {n} : Alive(m) /\ ~Hit(m)}

(* TTL-01, TTL-06, TTL-13, TTL-14 *)
Receive(n) ==
  /\ n \in In("active")
  /\ ~Hit(n)
  /\ Alive(n) \/ messages[n].cached > 0
  /\ \E others \in SUBSET Cachable(n) : messages' = Locked(n, others)
  /\ UNCHANGED up
  /\ Says([op |-> "Receive"], Received(n))

(* TTL-02: nothing, if all that live may be in a cache out of reach. *)
ReceiveNothing ==
  /\ Outage \/ \A n \in In("active") : Alive(n) => messages[n].cached > 0
  /\ UNCHANGED core
  /\ Says([op |-> "Receive"], Empty)

Settling(op, n) == [op |-> op, message |-> n]

(* TTL-05: whatever its age. *)
Complete(n) ==
  /\ n \in In("locked")
  /\ Moves(n, "gone")
  /\ UNCHANGED up
  /\ Says(Settling("Complete", n), Done)

DeadLetter(n) ==
  /\ n \in In("locked")
  /\ messages' = [messages EXCEPT ![n].place = "dead", ![n].lock = 0, ![n].reason = "asked"]
  /\ UNCHANGED up
  /\ Says(Settling("DeadLetter", n), Done)

Defer(n) ==
  /\ n \in In("locked")
  /\ Moves(n, "deferred")
  /\ UNCHANGED up
  /\ Says(Settling("Defer", n), Done)

Abandon(n) ==
  /\ n \in In("locked")
  /\ Moves(n, "active")
  /\ UNCHANGED up
  /\ Says(Settling("Abandon", n), Done)

SettleRefused(op, n) ==
  /\ n \in Numbers \ In("locked")
  /\ UNCHANGED core
  /\ Says(Settling(op, n), Refused("lock-lost"))

(* TTL-11: had by its number, whatever its age; or refused for it. *)
ReceiveDeferred(n) ==
  /\ n \in In("deferred")
  /\ ~Hit(n)
  /\ Moves(n, "gone")
  /\ UNCHANGED up
  /\ Says([op |-> "ReceiveDeferred", message |-> n], Received(n))

ReceiveDeferredRefused(n) ==
  /\ n \in In("deferred")
  /\ Hit(n) \/ ~Alive(n)
  /\ UNCHANGED core
  /\ Says([op |-> "ReceiveDeferred", message |-> n], Refused(AnyError))

(* TTL-07, TTL-08: what has died is removed at some time, and by nobody's request. *)
Expire(n) ==
  /\ n \in In("active")
  /\ ~Alive(n)
  /\ messages[n].cached = 0
  /\ messages' = [messages EXCEPT ![n].place = IF Buries THEN "dead" ELSE "gone",
                                  ![n].reason = IF Buries THEN Expiry ELSE None]
  /\ UNCHANGED up
  /\ Says([op |-> "Expire", message |-> n], Done)

ReceiveDead(n) ==
  /\ n \in In("dead")
  /\ ~Hit(n)
  /\ Moves(n, "gone")
  /\ UNCHANGED up
  /\ Says([op |-> "ReceiveDead"], [type |-> "Received", message |-> n, reason |-> messages[n].reason])

(* TTL-09: whatever is there yet is shown. *)
Shown(p) == {n \in Numbers : messages[n].partition = p /\ messages[n].place \notin {"dead", "gone"}}
Peek ==
  /\ \E p \in up : Says([op |-> "Peek", partition |-> p], Peeked(Ascending(Shown(p))))
  /\ UNCHANGED core

(* TTL-13: the clock goes on for all, in an outage too. *)
Older(m) ==
  LET age == IF m.place \in {"active", "locked", "deferred"} THEN AtMost(m.age + 1, Forever - 1)
             ELSE m.age
      died == age >= AtMost(m.asked, EntityLife)
      lock == IF m.lock > 0 THEN m.lock - 1 ELSE 0
  IN [m EXCEPT !.age = age,
               !.lock = lock,
               !.place = IF @ = "locked" /\ lock = 0 THEN "active" ELSE @,
               !.cached = IF @ > 0 THEN @ - 1 ELSE 0,
               !.due = IF @ > 0 THEN @ - 1 ELSE 0,
               !.late = @ \/ (m.place = "locked" /\ died)]

AdvanceClock ==
  /\ messages' = [n \in Numbers |-> Older(messages[n])]
  /\ UNCHANGED up
  /\ Says([op |-> "AdvanceClock"], Done)

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED messages
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED messages
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E life \in Lives :
       \/ Send(life)
       \/ \E delay \in 0..MaxDelay : Schedule(life, delay)
  \/ \E n \in 1..MaxMessages :
       \/ Arrive(n) \/ Receive(n) \/ Expire(n) \/ ReceiveDead(n)
       \/ Complete(n) \/ DeadLetter(n) \/ Defer(n) \/ Abandon(n)
       \/ ReceiveDeferred(n) \/ ReceiveDeferredRefused(n)
       \/ \E op \in {"Complete", "DeadLetter", "Defer", "Abandon"} : SettleRefused(op, n)
  \/ ReceiveNothing
  \/ Peek
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

(* What has died is removed, as time passes. *)
FairSpec ==
  /\ Spec
  /\ WF_core(AdvanceClock)
  /\ \A n \in 1..MaxMessages : WF_vars(Expire(n))
===================================================================================
