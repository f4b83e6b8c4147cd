-------------------------------- MODULE Scheduled --------------------------------
(* Messages that are sent now and are to arrive later: scheduled, cancelled, due,   *)
(* and from when they are active like any others. By when what is due is active,    *)
(* nobody says: it may take any time.                                               *)
EXTENDS Vocabulary

CONSTANTS
  Partitions, Breakable,
  Keys,       \* keys of messages, which are session ids where sessions are required
  Place,      \* the partition of each key
  Sessions,   \* whether sessions are required
  MaxMessages,
  MaxDelay,   \* in ticks of the clock
  Peeks       \* whether anybody looks

VARIABLES
  messages,  \* as asked for: key, partition, place, due, number, later
  issued,    \* sequence numbers that were told so far
  up

vars == <<messages, issued, up, said>>
core == <<messages, issued, up>>
View == core
Brief(m) == <<m.key, m.partition, m.place, m.due, m.number, m.later>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])], issued |-> issued, up |-> up]
Printed == Edge(State, State')

Numbers == DOMAIN messages
Places == {"scheduled", "active", "gone", "cancelled"}
In(place) == {n \in Numbers : messages[n].place = place}
Hit(n) == messages[n].partition \notin up
Outage == up # Partitions
Room == Len(messages) < MaxMessages
Sent == IF Sessions THEN Keys ELSE Keys \union {None}

(* SCHED-09: the key's partition, and any that is up for a message without. *)
Homes(key) == IF key = None THEN up ELSE {Place[key]} \intersect up

Init ==
  /\ messages = << >>
  /\ issued = 0
  /\ up = Partitions
  /\ said = Silence

Entered(key, partition, place, due) ==
  /\ messages' = Append(messages, [key |-> key, partition |-> partition, place |-> place, due |-> due,
                                   number |-> issued + 1, later |-> place = "scheduled"])
  /\ issued' = issued + 1
  /\ UNCHANGED up

-----------------------------------------------------------------------------------
Send(key) ==
  /\ Room
  /\ \E p \in Homes(key) :
       /\ Entered(key, p, "active", 0)
       /\ Says([op |-> "Send", key |-> key], DoneIn(p))

SendRefused(key) ==
  /\ Homes(key) = {}
  /\ UNCHANGED core
  /\ Says([op |-> "Send", key |-> key], Refused("unavailable"))

ScheduleCommand(key, delay) == [op |-> "Schedule", key |-> key, delay |-> delay, fits |-> TRUE]

(* SCHED-03, SCHED-09, SCHED-14: a time that has passed is a delay of none. *)
Schedule(key, delay) ==
  /\ Room
  /\ \E p \in (IF key = None THEN Partitions ELSE {Place[key]}) :
       Entered(key, p, "scheduled", delay)
  /\ Says(ScheduleCommand(key, delay), [type |-> "Scheduled", message |-> Len(messages) + 1])

(* SCHED-10 *)
ScheduleRefused(key, delay) ==
  /\ Room
  /\ IF key = None THEN Outage ELSE Place[key] \notin up
  /\ UNCHANGED core
  /\ Says(ScheduleCommand(key, delay), Refused(AnyError))

(* SCHED-12: SessionId and PartitionKey that differ. *)
ScheduleConflicting(delay) ==
  /\ UNCHANGED core
  /\ Says([ScheduleCommand(None, delay) EXCEPT !.fits = FALSE], Refused("invalid-operation"))

(* By the number that was told when the message was scheduled; else by one that nobody has. *)
CancelCommand(n) == [op |-> "Cancel", message |-> n]

(* SCHED-03, SCHED-04 *)
Cancel(n) ==
  /\ n \in In("scheduled")
  /\ messages' = [messages EXCEPT ![n].place = "cancelled"]
  /\ UNCHANGED <<issued, up>>
  /\ Says(CancelCommand(n), Done)

(* SCHED-05: refused, or without effect; what is due may be as good as active. *)
CancelTooLate(n) ==
  /\ n \in In("scheduled") => messages[n].due = 0
  /\ UNCHANGED core
  /\ \/ Says(CancelCommand(n), Refused(AnyError))
     \/ n \notin In("scheduled") /\ Says(CancelCommand(n), Done)

(* LIFE-11: where what is scheduled is kept until it is due, nobody says. *)
CancelInOutage(n) ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says(CancelCommand(n), Refused(AnyError))

(* SCHED-02, SCHED-06, SCHED-07, SCHED-11: with a new number, behind all that came before. *)
Arrive(n) ==
  /\ n \in In("scheduled")
  /\ messages[n].due = 0
  /\ ~Hit(n)
  /\ messages' = [messages EXCEPT ![n].place = "active", ![n].number = issued + 1]
  /\ issued' = issued + 1
  /\ UNCHANGED up
  /\ Says([op |-> "Arrive", message |-> n], Done)

(* In the order of its key. *)
IsNext(n) ==
  /\ n \in In("active")
  /\ messages[n].key = None \/
     \A m \in In("active") :
       messages[m].key = messages[n].key => messages[n].number <= messages[m].number

(* SCHED-01: whoever holds a session is given what is active, and no more. *)
ReceiveFrom(key) == [op |-> "Receive", connection |-> 1, mode |-> "receive-and-delete",
                     session_id |-> IF Sessions THEN key ELSE None]

Receive(n) ==
  /\ IsNext(n)
  /\ ~Hit(n)
  /\ messages' = [messages EXCEPT ![n].place = "gone"]
  /\ UNCHANGED <<issued, up>>
  /\ Says(ReceiveFrom(messages[n].key), Received(n))

ReceiveNothing(key) ==
  /\ Outage \/ {n \in In("active") : Sessions => messages[n].key = key} = {}
  /\ UNCHANGED core
  /\ Says(ReceiveFrom(key), Empty)

(* LIFE-11 *)
ReceiveRefused(key) ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says(ReceiveFrom(key), Refused(AnyError))

(* SCHED-13: a session that has active messages. *)
NextSession(key) ==
  /\ Sessions
  /\ \E n \in In("active") : messages[n].key = key /\ ~Hit(n)
  /\ UNCHANGED core
  /\ Says([op |-> "AcceptNextSession"], [type |-> "SessionAccepted", session_id |-> key])

NoNextSession ==
  /\ Sessions
  /\ Outage \/ In("active") = {}
  /\ UNCHANGED core
  /\ Says([op |-> "AcceptNextSession"], Refused("timeout"))

(* SCHED-08: the scheduled ones of a partition, and whatever else is in it. *)
Shown(p) == Ascending({n \in In("active") \union In("scheduled") : messages[n].partition = p})
PeekCommand == [op |-> "Peek", count |-> MaxMessages]
Peek ==
  /\ Peeks
  /\ \E p \in up : Says(PeekCommand, Peeked(Shown(p)))
  /\ UNCHANGED core

(* LIFE-11 *)
PeekRefused ==
  /\ Peeks
  /\ Outage
  /\ UNCHANGED core
  /\ Says(PeekCommand, Refused(AnyError))

AdvanceClock ==
  /\ messages' = [n \in Numbers |-> [messages[n] EXCEPT !.due =
                   IF @ = 0 \/ messages[n].place # "scheduled" THEN 0 ELSE @ - 1]]
  /\ UNCHANGED <<issued, up>>
  /\ Says([op |-> "AdvanceClock"], Done)

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED <<messages, issued>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED <<messages, issued>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E key \in Sent :
       \/ Send(key) \/ SendRefused(key) \/ NextSession(key)
       \/ ReceiveNothing(key) \/ ReceiveRefused(key)
       \/ \E delay \in 0..MaxDelay : Schedule(key, delay) \/ ScheduleRefused(key, delay)
  \/ \E delay \in 0..MaxDelay : ScheduleConflicting(delay)
  \/ \E n \in 1..MaxMessages :
       Cancel(n) \/ CancelTooLate(n) \/ CancelInOutage(n) \/ Arrive(n) \/ Receive(n)
  \/ NoNextSession
  \/ Peek \/ PeekRefused
  \/ AdvanceClock
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

(* SCHED-02, SCHED-11: what is due comes, once the outages end, and time passes. *)
Heal == \E p \in Breakable : BringPartitionUp(p)
FairSpec ==
  /\ Spec
  /\ \A p \in Breakable : <>[][~TakePartitionDown(p)]_vars
  /\ WF_vars(Heal)
  /\ WF_core(AdvanceClock)
  /\ \A n \in 1..MaxMessages : WF_vars(Arrive(n))
===================================================================================
