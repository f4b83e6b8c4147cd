----------------------------------- MODULE Actions -----------------------------------
(* What the rules of subscriptions make of a message: a copy for each rule with an        *)
(* action that takes it, and one for all rules without. A message is its properties, a    *)
(* function from names to values, and a body. How an action's text is read, this does not *)
(* say: an action that is no SQL is one that nobody can read.                             *)
EXTENDS Vocabulary

CONSTANTS
  Subscriptions,
  RuleNames,
  Names,        \* of properties
  Values,
  Bodies,
  MaxMessages,
  MaxRules      \* of all subscriptions together

VARIABLES
  sent,    \* messages as they were accepted: properties, body
  rules,   \* of each subscription: name to filter and action
  copies   \* of each subscription: number of the message, rule, properties, body

vars == <<sent, rules, copies, said>>
core == <<sent, rules, copies>>
View == core

Missing == "missing"
Messages == [properties : [Names -> Values \union {Missing}], body : Bodies]

(* A filter takes all, or those with a value of a property. *)
Filters == {[kind |-> "all"]} \union [kind : {"equals"}, name : Names, value : Values]
NoAction == [kind |-> "none"]
Unreadable == [kind |-> "unreadable"]
Acting == [kind : {"set"}, name : Names, value : Values] \union [kind : {"remove"}, name : Names]
Rules == [filter : Filters, action : Acting \union {NoAction}]
NoRules == [r \in {} |-> NoAction]

(* FILTER-20: the properties alone. *)
Takes(rule, message) ==
  \/ rule.filter.kind = "all"
  \/ /\ rule.filter.kind = "equals"
     /\ message.properties[rule.filter.name] = rule.filter.value

(* FILTER-21: to take away what is not there is no error. *)
Changed(action, properties) ==
  CASE action.kind = "set" -> [properties EXCEPT ![action.name] = action.value]
    [] action.kind = "remove" -> [properties EXCEPT ![action.name] = Missing]
    [] OTHER -> properties

Taking(s, message) == {r \in DOMAIN rules[s] : Takes(rules[s][r], message)}
WithAction(s, message) == {r \in Taking(s, message) : rules[s][r].action # NoAction}

(* FILTER-21, FILTER-23, FILTER-24 *)
CopyBy(s, r, n, message) ==
  [of |-> n, rule |-> r, body |-> message.body,
   properties |-> Changed(rules[s][r].action, message.properties)]
PlainCopy(n, message) ==
  [of |-> n, rule |-> None, body |-> message.body, properties |-> message.properties]

(* FILTER-22 *)
MadeFor(s, n, message) ==
  {CopyBy(s, r, n, message) : r \in WithAction(s, message)}
    \union (IF Taking(s, message) = WithAction(s, message) THEN {} ELSE {PlainCopy(n, message)})

Init ==
  /\ sent = << >>
  /\ rules = [s \in Subscriptions |-> NoRules]
  /\ copies = [s \in Subscriptions |-> {}]
  /\ said = Silence

--------------------------------------------------------------------------------------
Count(s) == Cardinality(DOMAIN rules[s])
RECURSIVE Together(_)
Together(some) ==
  IF some = {} THEN 0 ELSE LET s == CHOOSE s \in some : TRUE IN Count(s) + Together(some \ {s})

AddRule(s, r, rule) ==
  /\ sent = << >> /\ Together(Subscriptions) < MaxRules
  /\ r \notin DOMAIN rules[s]
  /\ rules' = [rules EXCEPT ![s] = @ @@ (r :> rule)]
  /\ UNCHANGED <<sent, copies>>
  /\ Says([op |-> "AddRule", subscription |-> s, rule |-> r, action |-> rule.action], Done)

(* FILTER-25 *)
AddRuleRefused(s, r) ==
  /\ r \notin DOMAIN rules[s]
  /\ UNCHANGED core
  /\ Says([op |-> "AddRule", subscription |-> s, rule |-> r, action |-> Unreadable],
          Refused(AnyError))

(* FILTER-21, FILTER-22: each subscription by its own rules. *)
Send(message) ==
  /\ Len(sent) < MaxMessages
  /\ sent' = Append(sent, message)
  /\ copies' = [s \in Subscriptions |-> copies[s] \union MadeFor(s, Len(sent) + 1, message)]
  /\ UNCHANGED rules
  /\ Says([op |-> "Send", message |-> message], Done)

(* FILTER-23: the copy tells the rule that made it. *)
Seen(copy) ==
  [body |-> copy.body, name |-> copy.rule, of |-> copy.of, properties |-> copy.properties]
Receive(s) ==
  /\ \E copy \in copies[s] :
       /\ copies' = [copies EXCEPT ![s] = @ \ {copy}]
       /\ Says([op |-> "Receive", subscription |-> s], Received(Seen(copy)))
  /\ UNCHANGED <<sent, rules>>

ReceiveNothing(s) ==
  /\ copies[s] = {}
  /\ UNCHANGED core
  /\ Says([op |-> "Receive", subscription |-> s], Empty)

Next ==
  \/ \E s \in Subscriptions, r \in RuleNames :
       (\E rule \in Rules : AddRule(s, r, rule)) \/ AddRuleRefused(s, r)
  \/ \E message \in Messages : Send(message)
  \/ \E s \in Subscriptions : Receive(s) \/ ReceiveNothing(s)

Spec == Init /\ [][Next]_vars

--------------------------------------------------------------------------------------
TypeOK ==
  /\ sent \in Seq(Messages)
  /\ \A s \in Subscriptions :
       /\ DOMAIN rules[s] \subseteq RuleNames
       /\ \A r \in DOMAIN rules[s] : rules[s][r] \in Rules
       /\ \A copy \in copies[s] :
            /\ copy.of \in DOMAIN sent /\ copy.rule \in RuleNames \union {None}
            /\ copy.body \in Bodies /\ DOMAIN copy.properties = Names

Actor(s, r) == rules[s][r].action.kind # "none"
Original(copy) == sent[copy.of]
Matches(rule, properties) ==
  rule.filter.kind = "all" \/ properties[rule.filter.name] = rule.filter.value

(* FILTER-21 *)
SetIsSet ==
  \A s \in Subscriptions : \A copy \in copies[s] :
    (copy.rule # None /\ rules[s][copy.rule].action.kind = "set") =>
      LET action == rules[s][copy.rule].action IN copy.properties[action.name] = action.value
RemovedIsMissing ==
  \A s \in Subscriptions : \A copy \in copies[s] :
    (copy.rule # None /\ rules[s][copy.rule].action.kind = "remove") =>
      copy.properties[rules[s][copy.rule].action.name] = Missing

(* FILTER-22 *)
Fresh(s) == copies'[s] \ copies[s]
ACopyForEachAction ==
  [][Asks("Send") => \A s \in Subscriptions :
       \A r \in DOMAIN rules[s] : Actor(s, r) =>
         Cardinality({copy \in Fresh(s) : copy.rule = r})
           = (IF Matches(rules[s][r], said'.command.message.properties) THEN 1 ELSE 0)]_vars
OneForAllOthers ==
  [][Asks("Send") => \A s \in Subscriptions :
       Cardinality({copy \in Fresh(s) : copy.rule \notin {r \in DOMAIN rules[s] : Actor(s, r)}})
         = (IF \E r \in DOMAIN rules[s] :
              ~Actor(s, r) /\ Matches(rules[s][r], said'.command.message.properties)
            THEN 1 ELSE 0)]_vars

(* FILTER-23 *)
OnlyActionsAreTold ==
  [][Answers("Received") => said'.reply.message.name = None
       \/ Actor(said'.command.subscription, said'.reply.message.name)]_vars
ToldIsTheMaker ==
  [][Answers("Received") =>
       LET got == said'.reply.message
           before == sent[got.of].properties
           Made(action) ==
             /\ action.kind = "set" => got.properties[action.name] = action.value
             /\ action.kind = "remove" => got.properties[action.name] = Missing
             /\ \A name \in Names \ {action.name} : got.properties[name] = before[name]
       IN IF got.name = None THEN got.properties = before
          ELSE Made(rules[said'.command.subscription][got.name].action)]_vars

(* FILTER-24 *)
NothingElseIsChanged ==
  \A s \in Subscriptions : \A copy \in copies[s] :
    /\ copy.body = Original(copy).body
    /\ \A name \in Names : copy.properties[name] # Original(copy).properties[name] =>
         copy.rule # None /\ rules[s][copy.rule].action.name = name
WhatWasSentStays ==
  [][\A n \in DOMAIN sent : sent'[n] = sent[n]]_vars
OthersStay ==
  [][(Asks("Receive") \/ Asks("Send")) => \A s \in Subscriptions :
       Cardinality(copies[s] \ copies'[s])
         <= (IF Asks("Receive") /\ said'.command.subscription = s THEN 1 ELSE 0)]_vars

(* FILTER-20 *)
PropertiesAloneDecide ==
  [][Asks("Send") => \A s \in Subscriptions :
       Fresh(s) # {} <=> \E r \in DOMAIN rules[s] :
         Matches(rules[s][r], said'.command.message.properties)]_vars

(* FILTER-25 *)
UnreadableActionsAreRefused ==
  [][(Asks("AddRule") /\ said'.command.action.kind = "unreadable")
       => Answers("Refused") /\ rules' = rules]_vars

NeverTwoCopies == \A s \in Subscriptions : Cardinality({copy.of : copy \in copies[s]})
                                            = Cardinality(copies[s])
NeverRemoved ==
  \A s \in Subscriptions : \A copy \in copies[s] : \A name \in Names :
    Original(copy).properties[name] # Missing => copy.properties[name] # Missing
NeverUnlike ==
  \A s, t \in Subscriptions : \A copy \in copies[s], other \in copies[t] :
    copy.of = other.of => copy.properties = other.properties
=====================================================================================
