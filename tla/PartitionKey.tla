------------------------------ MODULE PartitionKey ------------------------------
(* Which partition takes a message, by its SessionId, PartitionKey and MessageId. *)
EXTENDS MessageKeys

CONSTANTS
  Partitions, Breakable,
  Place,         \* the partition of each key, a pair of property and value
  Properties,    \* the messages on offer: session_id, partition_key, message_id
  Timeouts,
  ByTurns,       \* the strict reading of round robin?
  ClientLibrary, \* does a library assign the MessageId that a sender leaves out?
  MaxMessages

VARIABLES
  messages,  \* as accepted: its properties as a receiver sees them, partition, here
  up,
  turn       \* the partition of the last message without key, in a set; {} unless ByTurns

vars == <<messages, up, turn, said>>
core == <<messages, up, turn>>
View == core
Brief(m) == <<m.session_id, m.partition_key, m.message_id, m.partition, m.here>>
State == [messages |-> [n \in DOMAIN messages |-> Brief(messages[n])], up |-> up, turn |-> turn]
Printed == Edge(State, State')

Assigned == "assigned"  \* by the client library, and like no other

Numbers == DOMAIN messages
(* What a receive may give: of each key the oldest, without key any. *)
Receivable ==
  {n \in Numbers :
     /\ messages[n].here /\ messages[n].partition \in up
     /\ \A m \in Numbers : m < n /\ messages[m].here /\ KeyOf(messages[m]) = KeyOf(messages[n])
          => KeyOf(messages[m]) = NoKey}
Outage == up # Partitions
Room == Len(messages) < MaxMessages
Unused(m) ==  \* copies are the matter of DuplicateDetection
  DuplicateDetection => \A n \in Numbers :
    messages[n].message_id # m.message_id \/ m.message_id \in {None, ""}

(* KEY-13 *)
AsSent(m) ==
  IF ClientLibrary /\ m.message_id = None THEN [m EXCEPT !.message_id = Assigned] ELSE m

(* Whither the key of a message leads: one partition, or any if nobody can know. *)
PlacesOf(m) ==
  IF KeyOf(m) = <<"message_id", Assigned>> THEN Partitions ELSE {Place[KeyOf(m)]}

SendCommand(m, timeout) ==
  [op |-> "Send", session_id |-> m.session_id, partition_key |-> m.partition_key,
   message_id |-> m.message_id, timeout |-> timeout]

Accept(m, partition) ==
  /\ messages' = Append(messages,
       [session_id |-> m.session_id, partition_key |-> m.partition_key,
        message_id |-> m.message_id, partition |-> partition, here |-> TRUE])
  /\ UNCHANGED up

Init ==
  /\ messages = << >>
  /\ up = Partitions
  /\ turn = {}
  /\ said = Silence

---------------------------------------------------------------------------------
(* KEY-01, KEY-02, KEY-04, KEY-07, KEY-09, KEY-10, KEY-20, KEY-24 *)
SendKeyed(sent, timeout) ==
  LET m == AsSent(sent) IN
    /\ Room /\ Unused(m)
    /\ ~KeysDiffer(m)
    /\ KeyOf(m) # NoKey
    /\ \E p \in PlacesOf(m) \intersect up :
         Accept(m, p) /\ Says(SendCommand(sent, timeout), DoneIn(p))
    /\ UNCHANGED turn

(* KEY-03, KEY-20 *)
SendKeyedRefused(sent, timeout) ==
  LET m == AsSent(sent) IN
    /\ Room /\ Unused(m)
    /\ ~KeysDiffer(m)
    /\ KeyOf(m) # NoKey
    /\ PlacesOf(m) \ up # {}
    /\ UNCHANGED core
    /\ Says(SendCommand(sent, timeout), Refused(AnyError))

(* KEY-08 *)
SendDifferingRefused(sent, timeout) ==
  /\ Room /\ Unused(AsSent(sent))
  /\ KeysDiffer(sent)
  /\ UNCHANGED core
  /\ Says(SendCommand(sent, timeout), Refused("invalid-operation"))

(* ERROR-PRECEDENCE: with the partition of one of the two keys down, either error. *)
SendDifferingInOutage(sent, timeout) ==
  /\ Room /\ Unused(AsSent(sent))
  /\ KeysDiffer(sent)
  /\ \E key \in {<<"session_id", sent.session_id>>, <<"partition_key", sent.partition_key>>} :
       Place[key] \notin up
  /\ UNCHANGED core
  /\ Says(SendCommand(sent, timeout), Refused(AnyError))

(* ROUND-ROBIN: any partition, or the next one that is up. *)
NextUp ==
  LET after == {p \in up : \A last \in turn : p > last} IN
    Least(IF after = {} THEN up ELSE after)
Choices == IF turn = {} THEN up ELSE {NextUp}

(* KEY-12, KEY-14, KEY-15 *)
SendUnkeyed(sent, timeout) ==
  LET m == AsSent(sent) IN
    /\ Room /\ Unused(m)
    /\ ~KeysDiffer(m)
    /\ KeyOf(m) = NoKey
    /\ up # {}
    /\ \E p \in Choices :
         /\ Accept(m, p)
         /\ turn' = IF ByTurns THEN {p} ELSE {}
         /\ Says(SendCommand(sent, timeout), DoneIn(p))

(* KEY-18 *)
SendUnkeyedRefused(sent, timeout) ==
  LET m == AsSent(sent) IN
    /\ Room /\ Unused(m)
    /\ ~KeysDiffer(m)
    /\ KeyOf(m) = NoKey
    /\ IF timeout = "short" THEN Outage ELSE up = {}
    /\ UNCHANGED core
    /\ Says(SendCommand(sent, timeout), Refused(AnyError))

ReceiveCommand == [op |-> "Receive", connection |-> 1, mode |-> "receive-and-delete"]

(* KEY-13, LIFE-01: the message comes as it was sent. *)
Receive ==
  /\ \E n \in Receivable :
       /\ messages' = [messages EXCEPT ![n].here = FALSE]
       /\ Says(ReceiveCommand,
               [type |-> "Received", message |-> n, message_id |-> messages[n].message_id])
  /\ UNCHANGED <<up, turn>>

(* LIFE-09, LIFE-11 *)
ReceiveNothing ==
  /\ Outage \/ Receivable = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand, Empty)

(* LIFE-11 *)
ReceiveRefused ==
  /\ Outage
  /\ UNCHANGED core
  /\ Says(ReceiveCommand, Refused(AnyError))

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED <<messages, turn>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED <<messages, turn>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E m \in Properties, timeout \in Timeouts :
       \/ SendKeyed(m, timeout) \/ SendKeyedRefused(m, timeout)
       \/ SendDifferingRefused(m, timeout) \/ SendDifferingInOutage(m, timeout)
       \/ SendUnkeyed(m, timeout) \/ SendUnkeyedRefused(m, timeout)
  \/ Receive
  \/ ReceiveNothing
  \/ ReceiveRefused
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

---------------------------------------------------------------------------------
TypeOK ==
  /\ \A n \in Numbers : messages[n].partition \in Partitions /\ messages[n].here \in BOOLEAN
  /\ up \subseteq Partitions
  /\ turn \subseteq Partitions /\ Cardinality(turn) <= 1

(* KEY-02, KEY-05: where a key is its value, whichever property it is, only then. *)
SameKeySamePartition ==
  \A m, n \in Numbers :
    KeyOf(messages[m]) # NoKey /\ SameKey(KeyOf(messages[m]), KeyOf(messages[n]))
      => messages[m].partition = messages[n].partition

(* KEY-04 *)
SessionIdLeads ==
  \A n \in Numbers : IsSet(messages[n].session_id)
    => messages[n].partition = Place[<<"session_id", messages[n].session_id>>]

(* KEY-07 *)
PartitionKeyLeadsWithoutSession ==
  \A n \in Numbers : IsSet(messages[n].partition_key) /\ ~IsSet(messages[n].session_id)
    => messages[n].partition = Place[<<"partition_key", messages[n].partition_key>>]

(* KEY-10 *)
MessageIdLeadsUnderDuplicateDetection ==
  \A n \in Numbers :
    LET m == messages[n] IN
      DuplicateDetection /\ IsSet(m.message_id) /\ m.message_id # Assigned
        /\ ~IsSet(m.session_id) /\ ~IsSet(m.partition_key)
        => m.partition = Place[<<"message_id", m.message_id>>]

(* KEY-08, KEY-09 *)
AcceptedKeysAgree == \A n \in Numbers : ~KeysDiffer(messages[n])

(* KEY-13 *)
EveryMessageHasAnId == ClientLibrary => \A n \in Numbers : messages[n].message_id # None

(* KEY-14, by turns and with nothing down: no partition is two ahead of another. *)
Unkeyed(p) == {n \in Numbers : KeyOf(messages[n]) = NoKey /\ messages[n].partition = p}
TurnsAreEven ==
  ByTurns /\ Breakable = {} =>
    \A p, q \in Partitions : Cardinality(Unkeyed(p)) <= Cardinality(Unkeyed(q)) + 1

(* KEY-03, KEY-08, KEY-20 *)
RefusalsChangeNothing == [][Answers("Refused") => core' = core]_vars

(* KEY-08: exactly the keys that differ are an invalid operation, and never accepted. *)
DifferingKeysAreRefused ==
  [][Asks("Send") => (KeysDiffer(said'.command) => Answers("Refused"))
                     /\ (Refuses("invalid-operation") => KeysDiffer(said'.command))]_vars

(* KEY-03, KEY-15, KEY-18: with all partitions up nothing else is refused. *)
OnlyOutagesRefuse ==
  [][Asks("Send") /\ Answers("Refused") /\ ~Outage => KeysDiffer(said'.command)]_vars

(* KEY-15 *)
UnkeyedSendsGoRound ==
  [][Asks("Send") /\ KeyOf(AsSent(said'.command)) = NoKey /\ ~KeysDiffer(said'.command)
       /\ said'.command.timeout = "long" /\ up # {} => Answers("Done")]_vars

(* KEY-03, KEY-20 *)
KeyedSendsNeedTheirPartition ==
  [][Asks("Send") /\ ~KeysDiffer(said'.command) /\ KeyOf(said'.command) # NoKey
       => (Answers("Done") <=> Place[KeyOf(said'.command)] \in up)]_vars

NeverApart ==  \* KEY-12: copies of a MessageId, and of nothing else, in two partitions
  \A m, n \in {k \in Numbers : ~IsSet(messages[k].session_id) /\ ~IsSet(messages[k].partition_key)} :
    messages[m].message_id = messages[n].message_id /\ messages[m].message_id # None
      => messages[m].partition = messages[n].partition
NeverTogether ==  \* KEY-02: different keys may share a partition
  \A m, n \in Numbers : KeyOf(messages[m]) # NoKey /\ KeyOf(messages[n]) # NoKey
    /\ ~SameKey(KeyOf(messages[m]), KeyOf(messages[n])) => messages[m].partition # messages[n].partition
NeverAgree == \A n \in Numbers : ~(IsSet(messages[n].session_id) /\ IsSet(messages[n].partition_key))
NeverInvalid == [][~Refuses("invalid-operation")]_vars
NeverEverywhere == \E p \in Partitions : Unkeyed(p) = {}  \* KEY-14
NeverAssigned == [][Answers("Received") => said'.reply.message_id # Assigned]_vars
NeverLeftByMessageId ==  \* KEY-24
  \A n \in Numbers : DuplicateDetection /\ messages[n].message_id # None
    /\ IsSet(messages[n].session_id)
    => messages[n].partition = Place[<<"message_id", messages[n].message_id>>]
=================================================================================
