-------------------------------- MODULE TopicsProps --------------------------------
(* What holds of topics and subscriptions, and what must be reachable. *)
EXTENDS Topics

CopyType == [state : {"none", "available", "locked", "gone"}, partition : Partitions]
TypeOK ==
  /\ sent \in Seq([key : Keys \union {None}, kind : Kinds])
  /\ \A s \in Subscriptions : copies[s] \in Seq(CopyType)
  /\ up \subseteq Partitions

(* TOPIC-01, TOPIC-08: one copy at most in each subscription, in one partition. *)
EachHasItsCopies == \A s \in Subscriptions : Len(copies[s]) = Len(sent)

(* TOPIC-12 *)
NoKindTwice ==
  Detects =>
    \A m, n \in Numbers : m # n => sent[m].kind # sent[n].kind

New == DOMAIN sent' \ Numbers
State(s, n) == copies[s][n].state

(* TOPIC-01, TOPIC-04, FILTER-01, FILTER-02, FILTER-05, FILTER-06, FEAT-01, FEAT-02 *)
CopiesGoWhereTheyAreTaken ==
  [][\A n \in New, s \in Subscriptions :
       copies'[s][n].state = IF Takes(s, sent'[n].kind) THEN "available" ELSE "none"]_vars

(* TOPIC-02 *)
CopiesDoNotDependOnEachOther ==
  [][\A n \in Numbers, s, t \in Subscriptions :
       s # t /\ copies'[s][n] # copies[s][n] => copies'[t][n] = copies[t][n]]_vars

(* TOPIC-03, FILTER-07 *)
WhatWasNotTakenDoesNotCome ==
  [][\A n \in Numbers, s \in Subscriptions :
       State(s, n) = "none" <=> copies'[s][n].state = "none"]_vars

(* TOPIC-06, TOPIC-10, TOPIC-16, FILTER-08, FILTER-09, FEAT-03 *)
RefusalsAddNothing ==
  [][Answers("Refused") =>
       <<sent, created, rules, copies, up>>' = <<sent, created, rules, copies, up>>]_vars

(* TOPIC-05 *)
TopicsGiveNothing ==
  [][Asks("Receive") /\ said'.command.subscription = None => ~Answers("Received")]_vars

(* TOPIC-09 *)
ReceivesFindEveryPartition ==
  [][Asks("Receive") /\ Answers("Empty") /\ ~Outage =>
       \A s \in Subscriptions : s = said'.command.subscription => Available(s) = {}]_vars

(* TOPIC-10, TOPIC-11, TOPIC-07 *)
OutagesRefuseTheirKeys ==
  [][Asks("Send") /\ Answers("Refused") /\ said'.command.op = "Send" /\ Refuses(AnyError) =>
       \/ \E s \in Subscriptions : said'.command = [op |-> "Send", subscription |-> s]
       \/ up = {} \/ \E key \in Keys : key = said'.command.key /\ Place[key] \notin up]_vars

(* TOPIC-14 *)
SessionsComeInOrder ==
  [][\A s \in Ordered : Answers("Received") /\ said'.command.subscription = s =>
       Earlier(said'.reply.message) \intersect Available(s) = {}]_vars

(* TOPIC-20 *)
OnlyTheAvailableAreGiven ==
  [][\A s \in Subscriptions : Answers("Received") /\ said'.command.subscription = s =>
       State(s, said'.reply.message) = "available"]_vars
TheGoneStayGone ==
  [][\A n \in Numbers, s \in Subscriptions :
       State(s, n) = "gone" => copies'[s][n].state = "gone"]_vars

(* TOPIC-15 *)
OnlyCommitsSendMany ==
  [][Cardinality(New) > 1 => Asks("CommitTransaction")]_vars
NothingBeforeTheCommit ==
  [][staged' # staged /\ ~Asks("CommitTransaction") => sent' = sent]_vars

(* FILTER-10 *)
ListsAreRight ==
  [][\A s \in Subscriptions : Asks("ListRules") /\ said'.command.subscription = s
       => said'.reply.rules = rules[s]]_vars

NeverTwoCopies ==
  \A s, t \in Subscriptions, n \in Numbers : s # t => State(s, n) = "none" \/ State(t, n) = "none"
NeverApart ==  \* TOPIC-08: one message in different partitions of two subscriptions
  \A s, t \in Subscriptions, n \in Numbers :
    State(s, n) # "none" /\ State(t, n) # "none" => copies[s][n].partition = copies[t][n].partition
NeverTaken == \A n \in Numbers : \E s \in Subscriptions : State(s, n) # "none"
NeverWithoutRules == \A s \in Subscriptions : Exists(s) => DOMAIN rules[s] # {}
NeverTwoTogether == [][Cardinality(New) < 2]_vars
NeverDropped == [][Asks("Send") /\ Answers("Done") /\ ~open => sent' # sent]_vars
NeverRound ==
  [][Asks("Send") /\ Outage /\ sent' # sent => said'.command.key # None]_vars
NeverGivenAgain ==
  [][\A n \in Numbers, s \in Subscriptions :
       State(s, n) = "locked" => copies'[s][n].state # "available"]_vars
====================================================================================
