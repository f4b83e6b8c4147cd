------------------------------- MODULE Management -------------------------------
(* Creating, updating, deleting and asking about queues in a namespace: what the    *)
(* tiers allow, quotas, capacity, and operations that concern all partitions.       *)
EXTENDS Vocabulary

CONSTANTS
  Tier,               \* "basic", "standard", "premium", or "partitioned-premium": a namespace
                      \* of Premium that is partitioned as a whole
  Partitions,
  Breakable,
  Names,              \* of queues
  Existing,           \* partitioned queues from the time before Premium forbade them
  Sizes,              \* the sizes that a queue may be given
  OtherSizes,         \* sizes that it may not
  MaxPartitioned,     \* 100 in the documents
  MaxQueues,          \* 10,000 in the documents
  PremiumAnswers,     \* what a request for a partitioned queue gets there, a set of
                      \* "refused" and "unpartitioned"
  FullBefore,         \* is a queue full as soon as one partition is? a set of readings:
                      \* "partition", "queue"
  Keys,
  Place               \* the partition of each key

VARIABLES
  queues,  \* by name: there, partitioned, size, load of each partition
  up

vars == <<queues, up, said>>
core == <<queues, up>>
View == core
Brief(q) == <<q.there, q.partitioned, q.size, q.load>>
State == [queues |-> [name \in Names |-> Brief(queues[name])], up |-> up]
Printed == Edge(State, State')

Unmade ==
  [there |-> FALSE, partitioned |-> FALSE, size |-> 0, load |-> [p \in Partitions |-> 0]]
Made(partitioned, size) ==
  [there |-> TRUE, partitioned |-> partitioned, size |-> size,
   load |-> [p \in Partitions |-> 0]]

Home == Least(Partitions)  \* the store of a regular queue

There(name) == queues[name].there
IsPartitioned(name) == queues[name].partitioned
All == {name \in Names : There(name)}
AllPartitioned == {name \in All : IsPartitioned(name)}
Stores(name) == IF IsPartitioned(name) THEN Partitions ELSE {Home}
Unhealthy(name) == Stores(name) \ up

RECURSIVE Sum(_, _)
Sum(load, partitions) ==
  IF partitions = {} THEN 0
  ELSE LET p == Least(partitions) IN load[p] + Sum(load, partitions \ {p})

(* B3, B4: a partition has the size that was given; so a partitioned queue has many times it. *)
Capacity(name) == queues[name].size
MaximumSize(name) == queues[name].size * Cardinality(Stores(name))
Load(name, partitions) == Sum(queues[name].load, partitions)
IsFull(name, partition) == queues[name].load[partition] >= Capacity(name)
SomeFull(name) == \E p \in Stores(name) : IsFull(name, p)

Init ==
  /\ queues = [name \in Names |-> IF name \in Existing THEN Made(TRUE, Least(Sizes)) ELSE Unmade]
  /\ up = Partitions
  /\ said = Silence

---------------------------------------------------------------------------------
CreateCommand(name, partitioned, size) ==
  [op |-> "CreateQueue", queue |-> name, partitioned |-> partitioned, size |-> size]

AllPartitionedHere == Tier = "partitioned-premium"  \* PREM-14, PREM-15

(* G6, G7: a partitioned queue counts in both quotas; the second is not applied to Premium.   *)
(* In a partitioned namespace the second is that of its messaging units (QUOTA-14, QUOTA-15), *)
(* and the first is not of Premium.                                                           *)
PartitionedQuotaReached ==
  ~AllPartitionedHere /\ Cardinality(AllPartitioned) >= MaxPartitioned
QuotaReached == Tier # "premium" /\ Cardinality(All) >= MaxQueues

IsPossible(partitioned, size) ==
  /\ size \in Sizes
  /\ ~QuotaReached
  /\ partitioned => ~PartitionedQuotaReached

(* B2, B6, B8 *)
Create(name, partitioned, size) ==
  /\ ~There(name)
  /\ AllPartitionedHere => partitioned
  /\ IsPossible(partitioned, size)
  /\ partitioned => Tier # "premium"
  /\ queues' = [queues EXCEPT ![name] = Made(partitioned, size)]
  /\ UNCHANGED up
  /\ Says(CreateCommand(name, partitioned, size), Done)

NotGiven == 0  \* a size that is left out

(* B2: the size is the least one unless another is given. *)
CreateWithoutSize(name, partitioned) ==
  /\ Tier \notin {"premium", "partitioned-premium"}
  /\ ~There(name)
  /\ IsPossible(partitioned, Least(Sizes))
  /\ queues' = [queues EXCEPT ![name] = Made(partitioned, Least(Sizes))]
  /\ UNCHANGED up
  /\ Says(CreateCommand(name, partitioned, NotGiven), Done)

(* B5, B9, G4: Premium makes none with partitions; whether it says so is left open. *)
CreateUnpartitioned(name, size) ==
  /\ ~There(name)
  /\ size \in Sizes
  /\ ~QuotaReached
  /\ Tier = "premium"
  /\ "unpartitioned" \in PremiumAnswers
  /\ queues' = [queues EXCEPT ![name] = Made(FALSE, size)]
  /\ UNCHANGED up
  /\ Says(CreateCommand(name, TRUE, size), Done)

CreateForbidden(name, size) ==
  /\ ~There(name)
  /\ Tier = "premium"
  /\ "refused" \in PremiumAnswers
  /\ UNCHANGED core
  /\ Says(CreateCommand(name, TRUE, size), Refused(AnyError))

(* PREM-15: a partitioned namespace takes no queue without partitions. *)
CreateRegularForbidden(name, size) ==
  /\ ~There(name)
  /\ AllPartitionedHere
  /\ UNCHANGED core
  /\ Says(CreateCommand(name, FALSE, size), Refused(AnyError))

CreateAgain(name, partitioned, size) ==
  /\ There(name)
  /\ UNCHANGED core
  /\ Says(CreateCommand(name, partitioned, size), Refused("already-exists"))

(* G6, G7 *)
CreateOverQuota(name, partitioned, size) ==
  /\ ~There(name)
  /\ size \in Sizes
  /\ ~IsPossible(partitioned, size)
  /\ partitioned => Tier # "premium"
  /\ UNCHANGED core
  /\ Says(CreateCommand(name, partitioned, size), Refused("quota-exceeded"))

(* B2, B5 *)
CreateOfNoSize(name, partitioned, size) ==
  /\ ~There(name)
  /\ size \notin Sizes
  /\ UNCHANGED core
  /\ Says(CreateCommand(name, partitioned, size), Refused(AnyError))

(* F3: one unhealthy partition can make it fail. *)
CreateInOutage(name, partitioned, size) ==
  /\ ~There(name)
  /\ (IF partitioned THEN Partitions ELSE {Home}) \ up # {}
  /\ UNCHANGED core
  /\ Says(CreateCommand(name, partitioned, size), Refused(AnyError))

UpdateCommand(name, partitioned) ==
  [op |-> "UpdateQueue", queue |-> name, partitioned |-> partitioned]

(* An update that leaves the option as it is. *)
Update(name) ==
  /\ There(name)
  /\ UNCHANGED core
  /\ Says(UpdateCommand(name, IsPartitioned(name)), Done)

(* B7: the option of an existing queue cannot be changed, whether the update says so *)
(* or not. *)
UpdateOption(name) ==
  /\ There(name)
  /\ UNCHANGED core
  /\ \E reply \in {Refused(AnyError), Done} : Says(UpdateCommand(name, ~IsPartitioned(name)), reply)

(* B6: whether what exists in Premium goes on to be changed, is left open. *)
UpdateOfExisting(name) ==
  /\ There(name)
  /\ Tier = "premium" /\ IsPartitioned(name)
  /\ UNCHANGED core
  /\ Says(UpdateCommand(name, TRUE), Refused(AnyError))

(* F3 *)
UpdateInOutage(name) ==
  /\ There(name)
  /\ Unhealthy(name) # {}
  /\ UNCHANGED core
  /\ Says(UpdateCommand(name, IsPartitioned(name)), Refused(AnyError))

DeleteCommand(name) == [op |-> "DeleteQueue", queue |-> name]

Delete(name) ==
  /\ There(name)
  /\ queues' = [queues EXCEPT ![name] = Unmade]
  /\ UNCHANGED up
  /\ Says(DeleteCommand(name), Done)

(* F3 *)
DeleteInOutage(name) ==
  /\ There(name)
  /\ Unhealthy(name) # {}
  /\ UNCHANGED core
  /\ Says(DeleteCommand(name), Refused(AnyError))

GetCommand(name) == [op |-> "GetQueue", queue |-> name]

(* B4, F4: counts over all partitions; with an unhealthy one availability is limited, *)
(* and it is not said whether what lies there is counted.                             *)
Get(name) ==
  /\ There(name)
  /\ \E counted \in {Load(name, Stores(name)), Load(name, Stores(name) \intersect up)} :
       Says(GetCommand(name),
            [type |-> "Described", partitioned |-> IsPartitioned(name),
             maximum_size |-> MaximumSize(name), count |-> counted,
             availability |-> IF Unhealthy(name) = {} THEN "available" ELSE "limited"])
  /\ UNCHANGED core

(* F4: what cannot be asked of all partitions may be refused. *)
GetInOutage(name) ==
  /\ There(name)
  /\ Unhealthy(name) # {}
  /\ UNCHANGED core
  /\ Says(GetCommand(name), Refused(AnyError))

Missing(name, command) ==
  /\ ~There(name)
  /\ UNCHANGED core
  /\ Says(command, Refused("not-found"))

SendCommand(name, key) == [op |-> "Send", queue |-> name, key |-> key]
PlacesOf(name, key) ==
  IF ~IsPartitioned(name) THEN {Home}
  ELSE IF key = None THEN Partitions ELSE {Place[key]}

(* B3, B6, KEY-15: as long as one place for it is up and not full. *)
Send(name, key) ==
  /\ There(name)
  /\ "partition" \notin FullBefore => ~SomeFull(name)
  /\ \E p \in PlacesOf(name, key) \intersect up :
       /\ ~IsFull(name, p)
       /\ queues' = [queues EXCEPT ![name].load[p] = @ + 1]
       /\ Says(SendCommand(name, key), DoneIn(p))
  /\ UNCHANGED up

(* B3, KEY-20: a full partition takes nothing more, and a key leads nowhere else. *)
SendToFull(name, key) ==
  /\ There(name)
  /\ PlacesOf(name, key) \intersect up # {}
  /\ \/ \A p \in PlacesOf(name, key) \intersect up : IsFull(name, p)
     \/ "queue" \in FullBefore /\ SomeFull(name)
  /\ UNCHANGED core
  /\ Says(SendCommand(name, key), Refused("quota-exceeded"))

(* KEY-03 *)
SendInOutage(name, key) ==
  /\ There(name)
  /\ PlacesOf(name, key) \intersect up = {}
  /\ UNCHANGED core
  /\ Says(SendCommand(name, key), Refused(AnyError))

(* A message that is taken away leaves its room to others. *)
TakeAway(name, p) ==
  /\ There(name)
  /\ p \in Stores(name) \intersect up
  /\ queues[name].load[p] > 0
  /\ queues' = [queues EXCEPT ![name].load[p] = @ - 1]
  /\ UNCHANGED up
  /\ Says([op |-> "Receive", queue |-> name], DoneIn(p))

TakePartitionDown(p) ==
  /\ p \in up
  /\ up' = up \ {p}
  /\ UNCHANGED queues
  /\ Says([op |-> "TakePartitionDown", partition |-> p], Done)

BringPartitionUp(p) ==
  /\ p \notin up
  /\ up' = up \union {p}
  /\ UNCHANGED queues
  /\ Says([op |-> "BringPartitionUp", partition |-> p], Done)

Next ==
  \/ \E name \in Names, partitioned \in BOOLEAN, size \in Sizes \union OtherSizes :
       \/ Create(name, partitioned, size) \/ CreateAgain(name, partitioned, size)
       \/ CreateOverQuota(name, partitioned, size)
       \/ CreateOfNoSize(name, partitioned, size)
       \/ CreateInOutage(name, partitioned, size)
  \/ \E name \in Names, size \in Sizes :
       \/ CreateUnpartitioned(name, size) \/ CreateForbidden(name, size)
       \/ CreateRegularForbidden(name, size)
  \/ \E name \in Names :
       \/ Update(name) \/ UpdateOption(name) \/ UpdateOfExisting(name) \/ UpdateInOutage(name)
       \/ Delete(name) \/ DeleteInOutage(name)
       \/ Get(name) \/ GetInOutage(name)
       \/ Missing(name, GetCommand(name)) \/ Missing(name, DeleteCommand(name))
  \/ \E name \in Names, key \in Keys \union {None} :
       Send(name, key) \/ SendToFull(name, key) \/ SendInOutage(name, key)
  \/ \E name \in Names, partitioned \in BOOLEAN : CreateWithoutSize(name, partitioned)
  \/ \E name \in Names, p \in Partitions : TakeAway(name, p)
  \/ \E p \in Breakable : TakePartitionDown(p) \/ BringPartitionUp(p)

Spec == Init /\ [][Next]_vars

---------------------------------------------------------------------------------
TypeOK ==
  /\ \A name \in Names :
       /\ There(name) => queues[name].size \in Sizes
       /\ ~There(name) => queues[name] = Unmade
       /\ \A p \in Partitions \ Stores(name) : queues[name].load[p] = 0
  /\ up \subseteq Partitions

(* G6 *)
PartitionedWithinQuota == Cardinality(AllPartitioned) <= MaxPartitioned

(* G7 *)
QueuesWithinQuota == Tier # "premium" => Cardinality(All) <= MaxQueues

QuotaIsNotAppliedToPremium ==
  [][Tier = "premium" /\ Asks("CreateQueue") => ~Refuses("quota-exceeded")]_vars

(* B5, B6, G4 *)
PremiumPartitionsNothingNew == Tier = "premium" => AllPartitioned \subseteq Existing

(* PREM-14 *)
PartitionedNamespaceHasNoOthers == AllPartitionedHere => AllPartitioned = All

(* PREM-16 *)
QueuesHaveThePartitionsOfTheirNamespace ==
  AllPartitionedHere => \A name \in All : Stores(name) = Partitions

(* B3 *)
NoPartitionHoldsMoreThanItsSize ==
  \A name \in All : \A p \in Stores(name) : queues[name].load[p] <= queues[name].size
WholeWithinMaximum == \A name \in All : Load(name, Stores(name)) <= MaximumSize(name)

(* B7 *)
OptionIsForLife ==
  [][\A name \in All \intersect All' : queues'[name].partitioned = queues[name].partitioned]_vars

(* B6, B8 *)
CreatedAsAsked ==
  [][Asks("CreateQueue") /\ Answers("Done") /\ Tier # "premium" =>
       queues'[said'.command.queue].partitioned = said'.command.partitioned]_vars

(* B3, B4 *)
MaximumIsManyTimesTheSize ==
  [][Answers("Described") =>
       LET q == queues[said'.command.queue] IN
         said'.reply.maximum_size =
           IF q.partitioned THEN Cardinality(Partitions) * q.size ELSE q.size]_vars

DefaultIsTheLeast ==
  [][Asks("CreateQueue") /\ Answers("Done") /\ said'.command.size = NotGiven =>
       queues'[said'.command.queue].size = Least(Sizes)]_vars

(* F4 *)
LimitedWhenUnhealthy ==
  [][Answers("Described") =>
       (said'.reply.availability = "limited" <=> Unhealthy(said'.command.queue) # {})]_vars
CountsAreOfAllPartitions ==
  [][Answers("Described") /\ Unhealthy(said'.command.queue) = {} =>
       said'.reply.count = Load(said'.command.queue, Partitions)]_vars

(* F3 *)
RefusalsChangeNothing == [][Answers("Refused") => core' = core]_vars
HealthyOperationsSucceed ==
  [][(Asks("DeleteQueue") \/ Asks("UpdateQueue")) /\ Refuses(AnyError) =>
       \/ Unhealthy(said'.command.queue) # {}
       \/ Asks("UpdateQueue") /\ said'.command.partitioned # IsPartitioned(said'.command.queue)
       \/ Asks("UpdateQueue") /\ Tier = "premium" /\ IsPartitioned(said'.command.queue)]_vars

(* B6: what exists in Premium goes on working. *)
ExistingGoOnWorking ==
  [][Asks("Send") /\ Refuses(AnyError) => up # Partitions]_vars

(* B3, C16: with a key only its own partition counts, without one any will do. *)
FullOnlyWhereItMustGo ==
  [][Asks("Send") /\ Refuses("quota-exceeded") /\ "queue" \notin FullBefore =>
       \A p \in PlacesOf(said'.command.queue, said'.command.key) \intersect up :
         IsFull(said'.command.queue, p)]_vars

NeverPartitioned == AllPartitioned = {}
NeverOverQuota == [][~(Asks("CreateQueue") /\ Refuses("quota-exceeded"))]_vars
NeverOnlyPartitionedQuota ==
  [][Asks("CreateQueue") /\ Refuses("quota-exceeded") => QuotaReached]_vars
NeverKeyedFullAlone ==
  [][Asks("Send") /\ Refuses("quota-exceeded") => \A p \in Partitions : IsFull(said'.command.queue, p)]_vars
NeverLimited == [][Answers("Described") => said'.reply.availability # "limited"]_vars
NeverUndercounted ==
  [][Answers("Described") => said'.reply.count = Load(said'.command.queue, Partitions)]_vars
NeverRegularRefused ==
  [][~(Asks("CreateQueue") /\ Refuses(AnyError) /\ ~said'.command.partitioned)]_vars
NeverMadeAgain ==  \* B6: an existing one, deleted, comes back without partitions
  \A name \in Existing : There(name) => IsPartitioned(name)
NeverManyInPremium == Cardinality(All) <= MaxQueues
NeverDeleted == \A name \in Existing : There(name)
NeverFailsInOutage == [][~(Asks("DeleteQueue") /\ Refuses(AnyError))]_vars
NeverPastOneSize == \A name \in All : Load(name, Stores(name)) <= queues[name].size
=================================================================================
