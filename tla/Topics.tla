---------------------------------- MODULE Topics ----------------------------------
(* A partitioned topic: each subscription that takes a message gets a copy of its    *)
(* own. What a filter takes is a set of kinds here; Filters.tla says how it is found. *)
EXTENDS Vocabulary

CONSTANTS
  Partitions, Breakable,
  Keys,           \* keys of messages; there are also messages without
  Place,          \* the partition of each key
  Subscriptions,
  Ordered,        \* those of them that require sessions: their keys are session ids
  Kinds,          \* what filters tell apart
  Rules,          \* names of rules
  Detects,        \* whether the topic detects duplicates: the kind is then the MessageId, too
  MaxMessages

VARIABLES
  sent,    \* as accepted: key, kind
  created, \* the subscriptions that there are
  rules,   \* of each subscription: rule to the kinds it takes
  copies,  \* of each subscription: message to what became of its copy, and its partition
  open,    \* whether a transaction is
  staged,  \* what was sent in it
  up

vars == <<sent, created, rules, copies, open, staged, up, said>>
core == <<sent, created, rules, copies, open, staged, up>>
View == core

Default == "default"
AllRules == Rules \union {Default}
Filters == {{}, Kinds} \union {{kind} : kind \in Kinds}
NoRules == [r \in {} |-> {}]

Exists(s) == s \in created
Takes(s, kind) == Exists(s) /\ \E r \in DOMAIN rules[s] : kind \in rules[s][r]
Numbers == DOMAIN sent
Copy(s, n) == copies[s][n]
Available(s) == {n \in Numbers : Copy(s, n).state = "available"}
Reachable(s) == {n \in Available(s) : Copy(s, n).partition \in up}
Earlier(n) == {m \in Numbers : m < n /\ sent[m].key = sent[n].key}
Outage == up # Partitions
Room == Len(sent) + Len(staged) < MaxMessages
IsCopy(kind) == Detects /\ \E n \in Numbers : sent[n].kind = kind

Init ==
  /\ sent = << >>
  /\ created = {}
  /\ rules = [s \in Subscriptions |-> NoRules]
  /\ copies = [s \in Subscriptions |-> << >>]
  /\ open = FALSE
  /\ staged = << >>
  /\ up = Partitions
  /\ said = Silence

-----------------------------------------------------------------------------------
(* FILTER-01, TOPIC-03 *)
CreateSubscription(s) ==
  /\ ~Exists(s)
  /\ created' = created \union {s}
  /\ rules' = [rules EXCEPT ![s] = [r \in {Default} |-> Kinds]]
  /\ UNCHANGED <<sent, copies, open, staged, up>>
  /\ Says([op |-> "CreateSubscription", subscription |-> s], Done)

RuleCommand(op, s, r) == [op |-> op, subscription |-> s, rule |-> r]

(* FILTER-07, FEAT-01 *)
AddRule(s, r, filter) ==
  /\ Exists(s)
  /\ r \notin DOMAIN rules[s]
  /\ rules' = [rules EXCEPT ![s] =
       [each \in DOMAIN @ \union {r} |-> IF each = r THEN filter ELSE @[each]]]
  /\ UNCHANGED <<sent, created, copies, open, staged, up>>
  /\ Says(RuleCommand("AddRule", s, r), Done)

(* FILTER-08 *)
AddRuleRefused(s, r) ==
  /\ Exists(s)
  /\ r \in DOMAIN rules[s]
  /\ UNCHANGED core
  /\ Says(RuleCommand("AddRule", s, r), Refused("already-exists"))

(* FILTER-06, FILTER-07, FEAT-02 *)
RemoveRule(s, r) ==
  /\ Exists(s)
  /\ r \in DOMAIN rules[s]
  /\ rules' = [rules EXCEPT ![s] = [each \in DOMAIN @ \ {r} |-> @[each]]]
  /\ UNCHANGED <<sent, created, copies, open, staged, up>>
  /\ Says(RuleCommand("RemoveRule", s, r), Done)

(* FILTER-09 *)
RemoveRuleRefused(s, r) ==
  /\ Exists(s)
  /\ r \notin DOMAIN rules[s]
  /\ UNCHANGED core
  /\ Says(RuleCommand("RemoveRule", s, r), Refused("not-found"))

(* FEAT-03 *)
ChangeInTransactionRefused(op, s, r) ==
  /\ Exists(s)
  /\ open
  /\ UNCHANGED core
  /\ Says([op |-> op, subscription |-> s, rule |-> r, transaction |-> "t"], Refused(AnyError))

(* FILTER-10 *)
ListRules(s) ==
  /\ Exists(s)
  /\ UNCHANGED core
  /\ Says([op |-> "ListRules", subscription |-> s], [type |-> "RulesListed", rules |-> rules[s]])

SendCommand(key, kind) == [op |-> "Send", key |-> key, kind |-> kind]

(* TOPIC-01, TOPIC-04, TOPIC-08: where a copy lies is chosen for each subscription. *)
Copied(accepted, where) ==
  copies' = [s \in Subscriptions |-> copies[s] \o
    [n \in DOMAIN accepted |->
      [state |-> IF Takes(s, accepted[n].kind) THEN "available" ELSE "none",
       partition |-> IF Takes(s, accepted[n].kind) THEN where[s] ELSE 0]]]

(* TOPIC-07, TOPIC-10, TOPIC-11, TOPIC-12: the key selects the topic's partition. *)
Send(key, kind) ==
  /\ Room
  /\ IF key = None THEN up # {} ELSE Place[key] \in up
  /\ IF IsCopy(kind) THEN UNCHANGED <<sent, copies>>
     ELSE /\ sent' = Append(sent, [key |-> key, kind |-> kind])
          /\ \E where \in [Subscriptions -> up] : Copied(<<[key |-> key, kind |-> kind]>>, where)
  /\ UNCHANGED <<created, rules, open, staged, up>>
  /\ Says(SendCommand(key, kind), Done)

(* TOPIC-10 *)
SendRefused(key, kind) ==
  /\ Room
  /\ IF key = None THEN up = {} ELSE Place[key] \notin up
  /\ UNCHANGED core
  /\ Says(SendCommand(key, kind), Refused(AnyError))

(* TOPIC-06 *)
SendToSubscriptionRefused(s) ==
  /\ UNCHANGED core
  /\ Says([op |-> "Send", subscription |-> s], Refused(AnyError))

(* TOPIC-05 *)
ReceiveFromTopic ==
  /\ UNCHANGED core
  /\ \E reply \in {Empty, Refused(AnyError)} : Says([op |-> "Receive", subscription |-> None], reply)

ReceiveCommand(s) == [op |-> "Receive", subscription |-> s]

(* TOPIC-01, TOPIC-13, TOPIC-14, TOPIC-20 *)
Receive(s) ==
  /\ \E n \in Reachable(s) :
       /\ s \in Ordered => Earlier(n) \intersect Available(s) = {}
       /\ copies' = [copies EXCEPT ![s][n].state = "locked"]
       /\ Says(ReceiveCommand(s), Received(n))
  /\ UNCHANGED <<sent, created, rules, open, staged, up>>

(* TOPIC-09 *)
ReceiveNothing(s) ==
  /\ Exists(s)
  /\ Outage \/ Available(s) = {}
  /\ UNCHANGED core
  /\ Says(ReceiveCommand(s), Empty)

Settled(op, s, n, state) ==
  /\ n \in Numbers
  /\ Copy(s, n).state = "locked"
  /\ copies' = [copies EXCEPT ![s][n].state = state]
  /\ UNCHANGED <<sent, created, rules, open, staged, up>>
  /\ Says([op |-> op, subscription |-> s, message |-> n], Done)

(* TOPIC-02, TOPIC-20: of one copy only. A lock that ends is as one that is given back. *)
Complete(s, n) == Settled("Complete", s, n, "gone")
Abandon(s, n) == Settled("Abandon", s, n, "available")

Begin ==
  /\ ~open
  /\ open' = TRUE
  /\ UNCHANGED <<sent, created, rules, copies, staged, up>>
  /\ Says([op |-> "BeginTransaction"], Done)

TransactionCommand(key, kind) ==
  [op |-> "Send", key |-> key, kind |-> kind, transaction |-> "t"]
Fits(key) == key # None /\ \A n \in DOMAIN staged : staged[n].key = key

(* TOPIC-15. What detecting duplicates makes of transactions is not looked at here. *)
SendInTransaction(key, kind) ==
  /\ ~Detects
  /\ Room
  /\ open
  /\ Fits(key)
  /\ Place[key] \in up
  /\ staged' = Append(staged, [key |-> key, kind |-> kind])
  /\ UNCHANGED <<sent, created, rules, copies, open, up>>
  /\ Says(TransactionCommand(key, kind), Done)

(* TOPIC-16 *)
SendUnfitRefused(key, kind) ==
  /\ open
  /\ ~Fits(key)
  /\ open' = FALSE
  /\ staged' = << >>
  /\ UNCHANGED <<sent, created, rules, copies, up>>
  /\ Says(TransactionCommand(key, kind), Refused("invalid-operation"))

(* TOPIC-15 *)
Commit ==
  /\ open
  /\ up = Partitions
  /\ sent' = sent \o staged
  /\ \E where \in [Subscriptions -> up] : Copied(staged, where)
  /\ open' = FALSE
  /\ staged' = << >>
  /\ UNCHANGED <<created, rules, up>>
  /\ Says([op |-> "CommitTransaction"], Done)

RollBack ==
  /\ open
  /\ open' = FALSE
  /\ staged' = << >>
  /\ UNCHANGED <<sent, created, rules, copies, up>>
  /\ Says([op |-> "RollBackTransaction"], Done)

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED <<sent, created, rules, copies, open, staged>>
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED <<sent, created, rules, copies, open, staged>>
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E s \in Subscriptions :
       \/ CreateSubscription(s) \/ ListRules(s) \/ SendToSubscriptionRefused(s)
       \/ Receive(s) \/ ReceiveNothing(s)
       \/ \E n \in 1..MaxMessages : Complete(s, n) \/ Abandon(s, n)
       \/ \E r \in AllRules : RemoveRule(s, r) \/ RemoveRuleRefused(s, r) \/ AddRuleRefused(s, r)
       \/ \E r \in Rules, filter \in Filters : AddRule(s, r, filter)
       \/ \E op \in {"AddRule", "RemoveRule"}, r \in Rules : ChangeInTransactionRefused(op, s, r)
  \/ ReceiveFromTopic
  \/ \E key \in Keys \union {None}, kind \in Kinds :
       \/ Send(key, kind) \/ SendRefused(key, kind)
       \/ SendInTransaction(key, kind) \/ SendUnfitRefused(key, kind)
  \/ Begin \/ Commit \/ RollBack
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars
===================================================================================
