------------------------------ MODULE Transactions ------------------------------
(* What may be sent together. Only sends are in a transaction here: of settlement  *)
(* in one the documents say nothing.                                               *)
EXTENDS MessageKeys

CONSTANTS
  Partitioned,    \* or a regular queue, which takes several keys
  SessionAware,
  Partitions, Breakable,
  Place,          \* the partition of each key, a pair of property and value
  Properties,     \* the messages on offer: session_id, partition_key, message_id
  Queues,         \* more than one, to try a second one in a transaction
  Transactions,   \* their names
  RefusedAt,      \* the reading TXN-REFUSAL: "at-send", "at-commit" or "either"
  AfterRefusal,   \* the reading TXN-AFTER-REFUSAL: "continues", "dead" or "either"
  MessageIdCounts,\* the reading TXN-MESSAGE-ID: "either", "with-duplicate-detection", "always"
  InOutage,       \* the reading TXN-OUTAGE, of a commit: "either" or "refused"
  SecondQueue,    \* the reading TXN-ENTITIES: "either", "refused" or "accepted"
  MaxMessages

VARIABLES
  messages,  \* as accepted: properties, queue, partition, transaction, state, follows
  phase,     \* of each transaction: "none", "open", "dead", "committed", "undone"
  spoilt,    \* transactions whose commit must be refused
  up

vars == <<messages, phase, spoilt, up, said>>
core == <<messages, phase, spoilt, up>>
View == core
Brief(m) == <<m.session_id, m.partition_key, m.message_id, m.queue, m.partition, m.transaction,
              m.state, m.follows>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])],
          phase |-> phase, spoilt |-> spoilt, up |-> up]
Printed == Edge(State, State')

Numbers == DOMAIN messages
Is(n, state) == n \in Numbers /\ messages[n].state = state
In(t) == {n \in Numbers : messages[n].transaction = t}
Pending(t) == {n \in In(t) : Is(n, "pending")}
Hit(n) == messages[n].partition \notin up
Outage == up # Partitions
Room == Len(messages) < MaxMessages

(* TXN-01, TXN-MESSAGE-ID: the key of a message in a transaction. A MessageId     *)
(* without duplicate detection is a key by a reading only.                        *)
OnlyMessageId(m) == KeyOf(m) = NoKey /\ IsSet(m.message_id)
TransactionKey(m) ==
  IF OnlyMessageId(m) /\ MessageIdCounts # "with-duplicate-detection"
  THEN <<"message_id", m.message_id>> ELSE KeyOf(m)

(* A key that is none outside of a transaction leads nowhere in particular. *)
PlacesOf(m) == IF KeyOf(m) = NoKey \/ ~Partitioned THEN Partitions ELSE {Place[KeyOf(m)]}

(* What is wrong with sending m in t: nothing, or an error. *)
NoSession(m) == SessionAware /\ ~IsSet(m.session_id)                        \* TXN-06
NotTheSameKey(m, t) ==                                                      \* TXN-04, TXN-08
  \E n \in In(t) : ~SameKey(TransactionKey(messages[n]), TransactionKey(m))
MustFail(m, t) ==
  \/ KeysDiffer(m) /\ Partitioned                                           \* TXN-07, KEY-08
  \/ NoSession(m)
  \/ Partitioned /\ (TransactionKey(m) = NoKey \/ NotTheSameKey(m, t))      \* TXN-03
MayFail(m, t) ==
  \/ MustFail(m, t)
  \/ KeysDiffer(m)                                                          \* REGULAR-KEYS
  \/ Partitioned /\ OnlyMessageId(m) /\ MessageIdCounts = "either"
ErrorOf(m, t) ==
  IF KeysDiffer(m) \/ ~NoSession(m) THEN "invalid-operation" ELSE AnyError

IsSecondQueue(queue, t) == \E n \in In(t) : messages[n].queue # queue

SendCommand(m, queue, t) ==
  [op |-> "Send", session_id |-> m.session_id, partition_key |-> m.partition_key,
   message_id |-> m.message_id, queue |-> queue, transaction |-> t]

(* KEY-17: what of its key was there when it was sent, it comes after. *)
Before(m, queue) ==
  {n \in Numbers : /\ Is(n, "available")
                   /\ messages[n].queue = queue
                   /\ SameKey(TransactionKey(messages[n]), TransactionKey(m))}

(* What becomes of copies is the matter of DuplicateDetection: none is sent here. *)
IsCopy(m) == DuplicateDetection /\ \E n \in Numbers : messages[n].message_id = m.message_id

Accept(m, queue, t) ==
  \E p \in PlacesOf(m) \intersect up :
    /\ ~IsCopy(m)
    /\ messages' = Append(messages,
         [session_id |-> m.session_id, partition_key |-> m.partition_key,
          message_id |-> m.message_id, queue |-> queue, partition |-> p,
          transaction |-> t, state |-> "pending", follows |-> Before(m, queue)])
    /\ Says(SendCommand(m, queue, t), IF Partitioned THEN DoneIn(p) ELSE Done)

Init ==
  /\ messages = << >>
  /\ phase = [t \in Transactions |-> "none"]
  /\ spoilt = {}
  /\ up = Partitions
  /\ said = Silence

---------------------------------------------------------------------------------
Begin(t) ==
  /\ phase[t] = "none"
  /\ phase' = [phase EXCEPT ![t] = "open"]
  /\ UNCHANGED <<messages, spoilt, up>>
  /\ Says([op |-> "BeginTransaction", transaction |-> t], Done)

(* TXN-01, TXN-02, TXN-05, TXN-09 to TXN-11 *)
Send(m, queue, t) ==
  /\ Room
  /\ phase[t] = "open"
  /\ ~MustFail(m, t)
  /\ IsSecondQueue(queue, t) => SecondQueue # "refused"
  /\ Accept(m, queue, t)
  /\ UNCHANGED <<phase, spoilt, up>>

(* TXN-REFUSAL: the send is accepted, and the commit will be refused for it. *)
SendSpoiling(m, queue, t) ==
  /\ Room
  /\ phase[t] = "open"
  /\ MustFail(m, t)
  /\ RefusedAt # "at-send"
  /\ Accept(m, queue, t)
  /\ spoilt' = spoilt \union {t}
  /\ UNCHANGED <<phase, up>>

(* TXN-AFTER-REFUSAL: what a refused send leaves of its transaction. *)
Refuse(t) ==
  \/ AfterRefusal # "dead" /\ phase' = phase
  \/ AfterRefusal # "continues" /\ phase' = [phase EXCEPT ![t] = "dead"]

(* TXN-03, TXN-04, TXN-06 to TXN-08 *)
SendRefused(m, queue, t) ==
  /\ Room
  /\ phase[t] = "open"
  /\ MayFail(m, t)
  /\ MustFail(m, t) => RefusedAt # "at-commit"
  /\ Refuse(t)
  /\ UNCHANGED <<messages, spoilt, up>>
  /\ Says(SendCommand(m, queue, t), Refused(ErrorOf(m, t)))

(* KEY-03: its partition is down. *)
SendInOutage(m, queue, t) ==
  /\ Room
  /\ phase[t] = "open"
  /\ PlacesOf(m) \ up # {}
  /\ Refuse(t)
  /\ UNCHANGED <<messages, spoilt, up>>
  /\ Says(SendCommand(m, queue, t), Refused(AnyError))

(* TXN-ENTITIES *)
SendElsewhereRefused(m, queue, t) ==
  /\ Room
  /\ phase[t] = "open"
  /\ IsSecondQueue(queue, t)
  /\ SecondQueue # "accepted"
  /\ Refuse(t)
  /\ UNCHANGED <<messages, spoilt, up>>
  /\ Says(SendCommand(m, queue, t), Refused(AnyError))

(* TXN-AFTER-REFUSAL *)
SendInDead(m, queue, t) ==
  /\ Room
  /\ phase[t] = "dead"
  /\ UNCHANGED core
  /\ Says(SendCommand(m, queue, t), Refused(AnyError))

Undo(t) ==
  /\ messages' = [n \in Numbers |->
       IF n \in Pending(t) THEN [messages[n] EXCEPT !.state = "undone"] ELSE messages[n]]
  /\ phase' = [phase EXCEPT ![t] = "undone"]
  /\ spoilt' = spoilt \ {t}
  /\ UNCHANGED up

(* TXN-12: all of it, at once. *)
Commit(t) ==
  /\ phase[t] = "open"
  /\ t \notin spoilt
  /\ InOutage = "refused" => \A n \in Pending(t) : ~Hit(n)
  /\ messages' = [n \in Numbers |->
       IF n \in Pending(t) THEN [messages[n] EXCEPT !.state = "available"] ELSE messages[n]]
  /\ phase' = [phase EXCEPT ![t] = "committed"]
  /\ UNCHANGED <<spoilt, up>>
  /\ Says([op |-> "CommitTransaction", transaction |-> t], Done)

(* TXN-REFUSAL, TXN-AFTER-REFUSAL, TXN-OUTAGE: nothing of it. *)
CommitRefused(t) ==
  /\ \/ phase[t] = "dead"
     \/ phase[t] = "open" /\ (t \in spoilt \/ \E n \in Pending(t) : Hit(n))
  /\ Undo(t)
  /\ Says([op |-> "CommitTransaction", transaction |-> t],
          Refused(IF t \in spoilt /\ RefusedAt = "at-commit" THEN "invalid-operation" ELSE AnyError))

(* TXN-13 *)
RollBack(t) ==
  /\ phase[t] \in {"open", "dead"}
  /\ Undo(t)
  /\ Says([op |-> "RollBackTransaction", transaction |-> t], Done)

(* TXN-AFTER-REFUSAL: what is dead already, may be nothing more to undo. *)
RollBackRefused(t) ==
  /\ phase[t] = "dead"
  /\ Undo(t)
  /\ Says([op |-> "RollBackTransaction", transaction |-> t], Refused(AnyError))

ReceiveCommand(queue) ==
  [op |-> "Receive", connection |-> 1, mode |-> "receive-and-delete", queue |-> queue]

(* KEY-17: of a key, what was there before the send, and what its transaction sent before. *)
(* Which comes first of transactions that ran side by side is not said.                   *)
ComesFirst(m, n) ==
  /\ Is(m, "available")
  /\ \/ m \in messages[n].follows
     \/ /\ m < n
        /\ messages[m].transaction = messages[n].transaction
        /\ messages[m].queue = messages[n].queue
        /\ SameKey(TransactionKey(messages[m]), TransactionKey(messages[n]))

Receivable(queue) ==
  {n \in Numbers : Is(n, "available") /\ messages[n].queue = queue /\ ~Hit(n)
                     /\ ~\E m \in Numbers : ComesFirst(m, n)}

(* TXN-12, LIFE-01. Who receives from a session-aware queue is the matter of Sessions. *)
Receive(queue) ==
  /\ ~SessionAware
  /\ \E n \in Receivable(queue) :
       /\ messages' = [messages EXCEPT ![n].state = "completed"]
       /\ Says(ReceiveCommand(queue), Received(n))
  /\ UNCHANGED <<phase, spoilt, up>>

(* TXN-12, TXN-13, LIFE-11 *)
ReceiveNothing(queue) ==
  /\ ~SessionAware
  /\ Outage \/ Receivable(queue) = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(queue), Empty)

(* LIFE-11 *)
ReceiveRefused(queue) ==
  /\ ~SessionAware
  /\ Outage
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(queue), Refused(AnyError))

PeekCommand(queue) == [op |-> "Peek", count |-> 1, queue |-> queue]

(* TXN-12, TXN-13, LIFE-07: only what was committed is seen. *)
Peek(queue) ==
  /\ \E p \in up :
       LET seen == {n \in Receivable(queue) : messages[n].partition = p} IN
         \E shown \in IF seen = {} THEN {<< >>} ELSE {<<n>> : n \in seen} :
           Says(PeekCommand(queue), Peeked(shown))
  /\ UNCHANGED core

PeekRefused(queue) ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says(PeekCommand(queue), Refused(AnyError))

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED <<messages, phase, spoilt>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED <<messages, phase, spoilt>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E t \in Transactions : Begin(t) \/ Commit(t) \/ CommitRefused(t) \/ RollBack(t) \/ RollBackRefused(t)
  \/ \E m \in Properties, queue \in Queues, t \in Transactions :
       \/ Send(m, queue, t) \/ SendSpoiling(m, queue, t)
       \/ SendRefused(m, queue, t) \/ SendInOutage(m, queue, t)
       \/ SendElsewhereRefused(m, queue, t) \/ SendInDead(m, queue, t)
  \/ \E queue \in Queues :
       \/ Receive(queue) \/ ReceiveNothing(queue) \/ ReceiveRefused(queue)
       \/ Peek(queue) \/ PeekRefused(queue)
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

---------------------------------------------------------------------------------
Visible == {n \in Numbers : messages[n].state \in {"available", "completed"}}

TypeOK ==
  /\ \A n \in Numbers :
       /\ messages[n].partition \in Partitions
       /\ messages[n].state \in {"pending", "available", "completed", "undone"}
  /\ phase \in [Transactions -> {"none", "open", "dead", "committed", "undone"}]
  /\ spoilt \subseteq Transactions
  /\ up \subseteq Partitions

(* TXN-12, TXN-13 *)
VisibleAreCommitted == \A n \in Visible : phase[messages[n].transaction] = "committed"

(* TXN-12: all or nothing. *)
AllOrNothing ==
  \A t \in Transactions : phase[t] = "committed" => In(t) \subseteq Visible

(* TXN-02, TXN-04, TXN-08 *)
OneKeyInATransaction ==
  Partitioned => \A m, n \in Visible : messages[m].transaction = messages[n].transaction
    => SameKey(TransactionKey(messages[m]), TransactionKey(messages[n]))

(* TXN-01, TXN-03 *)
EveryMessageHasAKey ==
  Partitioned => \A n \in Visible : TransactionKey(messages[n]) # NoKey

(* TXN-05, TXN-10 *)
OnePartitionInATransaction ==
  Partitioned => \A m, n \in Visible :
    messages[m].transaction = messages[n].transaction /\ KeyOf(messages[m]) # NoKey
      /\ KeyOf(messages[n]) # NoKey
      => messages[m].partition = messages[n].partition

(* TXN-05 *)
AKeyPinsAsEver ==
  Partitioned => \A n \in Numbers : KeyOf(messages[n]) # NoKey
    => messages[n].partition = Place[KeyOf(messages[n])]

(* TXN-06 *)
SessionsAreNamed ==
  SessionAware => \A n \in Visible : IsSet(messages[n].session_id)

(* TXN-07 *)
KeysAgree == Partitioned => \A n \in Visible : ~KeysDiffer(messages[n])

(* TXN-13 *)
UndoneStaysUndone ==
  [][\A n \in Numbers : Is(n, "undone") => messages'[n].state = "undone"]_vars
OnlyTheVisibleIsReceived ==
  [][Answers("Received") => Is(said'.reply.message, "available")]_vars
OnlyTheVisibleIsPeeked ==
  [][Answers("Peeked") => \A i \in DOMAIN said'.reply.messages :
       Is(said'.reply.messages[i], "available")]_vars

(* TXN-03, TXN-04, TXN-06 to TXN-08: at the send, where the reading says so. *)
RefusedAtTheSend ==
  [][Asks("Send") /\ RefusedAt = "at-send" /\ MustFail(said'.command, said'.command.transaction)
       => Answers("Refused")]_vars

(* TXN-01, TXN-02, TXN-09, TXN-11: what is right is accepted. *)
WhatIsRightIsAccepted ==
  [][Asks("Send") /\ phase[said'.command.transaction] = "open" /\ ~Outage
       /\ ~MayFail(said'.command, said'.command.transaction)
       /\ ~IsSecondQueue(said'.command.queue, said'.command.transaction)
       => Answers("Done")]_vars
WhatIsRightIsCommitted ==
  [][Asks("CommitTransaction") /\ Answers("Refused") =>
       LET t == said'.command.transaction IN
         phase[t] = "dead" \/ t \in spoilt \/ \E n \in Pending(t) : Hit(n)]_vars

(* TXN-12, TXN-13: a refused commit leaves nothing. *)
RefusedCommitsLeaveNothing ==
  [][Asks("CommitTransaction") /\ Answers("Refused")
       => /\ \A n \in In(said'.command.transaction) : messages'[n].state = "undone"
          /\ Visible' = Visible]_vars

(* What a partitioned queue does not give, and a regular one does: D8. *)
TwoSessionsShareATransaction ==
  [][Asks("Send") /\ Refuses("invalid-operation") =>
       \/ ~IsSet(said'.command.session_id)
       \/ KeysDiffer(said'.command)]_vars

NeverCommitted == \A t \in Transactions : phase[t] # "committed"
NeverTwoTogether ==
  \A m, n \in Visible : messages[m].transaction = messages[n].transaction => m = n
NeverTwoSessions ==
  \A m, n \in Visible : messages[m].transaction = messages[n].transaction
    => messages[m].session_id = messages[n].session_id
NeverReceived == \A n \in Numbers : ~Is(n, "completed")
NeverUndone == \A n \in Numbers : ~Is(n, "undone")
NeverDead == \A t \in Transactions : phase[t] # "dead"
NeverSpoilt == spoilt = {}
NeverCommittedInOutage ==
  [][Asks("CommitTransaction") /\ Answers("Done")
       => \A n \in Pending(said'.command.transaction) : ~Hit(n)]_vars
NeverRefusedForDifferentKeys ==
  [][Refuses("invalid-operation") =>
       KeysDiffer(said'.command) \/ TransactionKey(said'.command) = NoKey]_vars
NeverByMessageId == \A n \in Visible : ~OnlyMessageId(messages[n])
NeverTwoQueues ==
  \A m, n \in Visible : messages[m].transaction = messages[n].transaction
    => messages[m].queue = messages[n].queue
=================================================================================
