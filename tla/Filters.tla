---------------------------------- MODULE Filters ----------------------------------
(* What a filter makes of a message: true, false or unknown. A message is a function   *)
(* from names to numbers and texts; a text is a sequence of letters. How a condition's *)
(* text is read, this does not say: conditions are trees here. TLC checks the laws on  *)
(* all small messages; the state machine has nothing to do.                            *)
EXTENDS Integers, Sequences, FiniteSets

True == "true"
False == "false"
Unknown == "unknown"
Truths == {True, False, Unknown}
Truth(is) == IF is THEN True ELSE False

(* FILTER-17 *)
Not(a) == IF a = True THEN False ELSE IF a = False THEN True ELSE Unknown
And(a, b) ==
  IF a = False \/ b = False THEN False ELSE IF a = True /\ b = True THEN True ELSE Unknown
Or(a, b) == Not(And(Not(a), Not(b)))

Missing == << >>  \* no value: values are sequences of one number
Names == {"p", "q"}
Values == {<<1>>, <<2>>}
Messages == [Names -> Values \union {Missing}]

(* FILTER-11, FILTER-17 *)
Compared(op, a, b) ==
  IF a = Missing \/ b = Missing THEN Unknown
  ELSE Truth(CASE op = "=" -> a[1] = b[1] [] op = "<>" -> a[1] # b[1]
               [] op = "<" -> a[1] < b[1] [] op = "<=" -> a[1] <= b[1]
               [] op = ">" -> a[1] > b[1] [] op = ">=" -> a[1] >= b[1])

(* FILTER-13 *)
Exists(message, name) == Truth(message[name] # Missing)
IsNull(message, name) == Not(Exists(message, name))

(* FILTER-14, FILTER-17 *)
RECURSIVE In(_, _)
In(a, listed) ==
  IF a = Missing THEN Unknown
  ELSE IF listed = << >> THEN False
  ELSE Or(Compared("=", a, Head(listed)), In(a, Tail(listed)))

(* FILTER-15: "%" any text, "_" any letter; behind the escape either stands for itself. *)
RECURSIVE Like(_, _, _)
Like(text, pattern, escape) ==
  IF pattern = << >> THEN text = << >>
  ELSE IF Head(pattern) = escape /\ Len(pattern) > 1
    THEN text # << >> /\ Head(text) = pattern[2]
         /\ Like(Tail(text), SubSeq(pattern, 3, Len(pattern)), escape)
  ELSE IF Head(pattern) = "%"
    THEN \E cut \in 0..Len(text) : Like(SubSeq(text, cut + 1, Len(text)), Tail(pattern), escape)
  ELSE text # << >> /\ Head(pattern) \in {"_", Head(text)}
       /\ Like(Tail(text), Tail(pattern), escape)

(* FILTER-16, FILTER-17 *)
Added(a, b) == IF a = Missing \/ b = Missing THEN Missing ELSE <<a[1] + b[1]>>

(* FILTER-03, FILTER-04: conditions is a function from some names to the values wanted. *)
Correlated(message, conditions) ==
  \A name \in DOMAIN conditions : message[name] = conditions[name]

(* FILTER-05 *)
Taken(message, filters) == \E f \in filters : f[message] = True

(* FILTER-22: of rules without action, and of those with one by their names. *)
Copies(message, filters, acting) ==
  (IF Taken(message, filters) THEN 1 ELSE 0)
    + Cardinality({rule \in DOMAIN acting : acting[rule][message] = True})

--------------------------------------------------------------------------------------
(* FILTER-02, FILTER-05, FILTER-06 *)
Always == [message \in Messages |-> True]
Never == [message \in Messages |-> False]
ASSUME OneRuleIsEnough ==
  \A message \in Messages : Taken(message, {Always, Never}) /\ ~Taken(message, {Never})
                            /\ ~Taken(message, {})

(* FILTER-05, FILTER-22 *)
ASSUME EachActionMakesACopy ==
  \A message \in Messages :
    /\ Copies(message, {Always, Never}, [rule \in {"louder", "softer"} |-> Always]) = 3
    /\ Copies(message, {Never}, [rule \in {"louder"} |-> Always]) = 1
    /\ Copies(message, {Never}, [rule \in {"louder"} |-> Never]) = 0

(* FILTER-03, FILTER-04 *)
ASSUME MissingFailsCorrelation ==
  \A message \in Messages, wanted \in [Names -> Values] :
    Correlated(message, wanted) <=> message = wanted

(* FILTER-17: unknown is neither, and does not come from what is certain. *)
ASSUME UnknownIsNeither ==
  /\ \A a \in Truths : And(a, Unknown) # True /\ Or(a, Unknown) # False
  /\ And(False, Unknown) = False /\ Or(True, Unknown) = True /\ Not(Unknown) = Unknown
  /\ \A a, b \in {True, False} : And(a, b) # Unknown /\ Or(a, b) # Unknown
ASSUME UnknownIsNotTaken ==
  \A message \in Messages : message["p"] = Missing =>
    ~Taken(message, {[m \in Messages |-> Compared("=", m["p"], <<1>>)]})
    /\ ~Taken(message, {[m \in Messages |-> Not(Compared("=", m["p"], <<1>>))]})

(* FILTER-11 *)
ASSUME ComparisonsAreOpposites ==
  \A a, b \in Values :
    /\ Compared("=", a, b) = Not(Compared("<>", a, b))
    /\ Compared("<", a, b) = Not(Compared(">=", a, b))
    /\ Compared(">", a, b) = Not(Compared("<=", a, b))
    /\ Compared("<", a, b) = Compared(">", b, a)

(* FILTER-13 *)
ASSUME ExistenceIsNeverUnknown ==
  \A message \in Messages, name \in Names :
    Exists(message, name) # Unknown /\ IsNull(message, name) = Truth(message[name] = Missing)

(* FILTER-14 *)
ASSUME InIsOneOfThem ==
  \A a \in Values, b, c \in Values : In(a, <<b, c>>) = Truth(a \in {b, c})

(* FILTER-15 *)
Letters == {"a", "%"}
Texts == UNION {[1..length -> Letters] : length \in 0..3}
ASSUME PercentIsAnyText == \A text \in Texts : Like(text, <<"%">>, "!")
ASSUME UnderscoreIsOneLetter == \A text \in Texts : Like(text, <<"_">>, "!") <=> Len(text) = 1
ASSUME EscapedIsItself == \A text \in Texts : Like(text, <<"!", "%">>, "!") <=> text = <<"%">>
ASSUME TextIsItself ==
  \A text, pattern \in Texts : "%" \notin {pattern[i] : i \in DOMAIN pattern}
    => (Like(text, pattern, "!") <=> text = pattern)

(* FILTER-16 *)
ASSUME UnknownCannotBeReckonedWith ==
  \A message \in Messages :
    Compared("=", Added(message["p"], message["q"]), <<3>>) = Unknown
      <=> Missing \in {message["p"], message["q"]}

VARIABLE nothing
Init == nothing = 0
Next == UNCHANGED nothing
Spec == Init /\ [][Next]_nothing
Stays == nothing = 0

NeverUnknown ==  \* FILTER-17
  \A message \in Messages : nothing = 0 => Compared("=", message["p"], <<1>>) # Unknown
======================================================================================
