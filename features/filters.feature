Feature: Subscription rules
  A subscription takes a message if any of its rules matches. A rule has a filter: true, false, one
  that compares properties for equality, or a condition in SQL.

  Rule: A subscription begins with a rule that takes everything

    @FILTER-01
    Scenario Outline: A subscription whose rules nobody has changed takes every message
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      When a message with Label "x" and property color "red" is sent
      And a message without key is sent
      And receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FILTER-02
    Scenario Outline: True takes all and false takes none
      Given a <kind> topic
      And subscription "all" that takes everything
      And subscription "none" that takes nothing
      When a message with Label "x" is sent
      And a message without key is sent
      And receivers turn to subscription "none"
      Then a receive finds nothing
      When receivers turn to subscription "all"
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A correlation filter compares properties for equality

    @FILTER-03
    Scenario Outline: A message with the value that a correlation filter names is taken
      Given a topic
      And subscription "one" that takes messages with <value>
      When a message with <value> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <value>

      Examples:
        | value                 | other                 |
        | CorrelationId "c"     | CorrelationId "d"     |
        | MessageId "m"         | MessageId "n"         |
        | To "t"                | To "u"                |
        | ReplyTo "r"           | ReplyTo "s"           |
        | Label "x"             | Label "X"             |
        | SessionId "a"         | SessionId "b"         |
        | ReplyToSessionId "a"  | ReplyToSessionId "A"  |
        | ContentType "text"    | ContentType "text/x"  |
        | property color "red"  | property color "Red"  |
        | property size 5       | property size 6       |
        | property urgent true  | property urgent false |

    @FILTER-03
    Scenario: On a regular topic a correlation filter takes what it names as well
      Given a regular topic
      And subscription "one" that takes messages with Label "x"
      When a message with Label "x" is sent
      And a message with Label "y" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "x"

    @FILTER-04
    Scenario Outline: A message that fails one of several conditions is not taken
      Given a <kind> topic
      And subscription "one" that takes messages with Label "x" and CorrelationId "c" and property color "red"
      When a message with <lacking> is sent
      And receivers turn to subscription "one"
      Then a receive finds nothing
      When senders turn to the topic
      And a message with Label "x" and CorrelationId "c" and property color "red" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | lacking                                                    |
        | partitioned | Label "x" and CorrelationId "c"                            |
        | partitioned | Label "x" and CorrelationId "c" and property color "blue"  |
        | regular     | Label "x" and CorrelationId "d" and property color "red"   |
        | regular     | CorrelationId "c" and property color "red"                 |

  Rule: One rule that matches is enough

    @FILTER-05
    Scenario Outline: A message that several rules take is there once
      Given a <kind> topic
      And subscription "one" that takes messages with Label "x"
      When rule "second" of subscription "one" is added: messages with CorrelationId "c"
      And a message with Label "x" and CorrelationId "c" is sent
      And a message with CorrelationId "c" is sent
      And a message with Label "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FILTER-06
    Scenario Outline: A subscription without rules takes nothing and keeps what it holds
      Given a <kind> topic
      And subscription "one"
      And a message with MessageId "before" was sent
      When rule "$Default" of subscription "one" is removed
      And a message with MessageId "after" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has MessageId "before"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FILTER-07
    Scenario Outline: A changed rule concerns what is sent from then on
      Given a <kind> topic
      And subscription "one" that takes messages with Label "x"
      And a message with Label "y" was sent
      When rule "second" of subscription "one" is added: messages with Label "y"
      And a message with Label "y" is sent
      And rule "second" of subscription "one" is removed
      And a message with Label "y" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FILTER-08
    Scenario: A rule's name is taken once
      Given a topic
      And subscription "one" that takes messages with Label "x"
      When rule "first" of subscription "one" is added: everything
      Then it is refused because it exists already
      When a message with Label "y" is sent
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @FILTER-09
    Scenario: A rule that is not there cannot be removed
      Given a topic
      And subscription "one"
      When rule "second" of subscription "one" is removed
      Then it is refused because it is not found

    @FILTER-09
    Scenario: A rule cannot be removed twice
      Given a topic
      And subscription "one" that takes messages with Label "x"
      When rule "first" of subscription "one" is removed
      Then it is accepted
      When rule "first" of subscription "one" is removed
      Then it is refused because it is not found

    @FILTER-10
    Scenario: The rules of a subscription are listed, each once
      Given a topic
      And subscription "one"
      When rule "second" of subscription "one" is added: messages with Label "x" and property size 5
      And rule "third" of subscription "one" is added: nothing
      Then the rules of subscription "one" are "$Default" and "second" and "third"
      When rule "$Default" of subscription "one" is removed
      Then the rules of subscription "one" are "second" and "third"

    @FILTER-20
    Scenario: A filter does not see the body
      Given a topic
      And subscription "one" that takes messages with Label "x"
      When 12 messages with Label "x" are sent
      And 12 messages with Label "y" are sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 12 messages were received

  Rule: A rule with an action makes a copy of its own, and changes it

    @FILTER-21
    Scenario Outline: SET gives the copy a property, and REMOVE takes one away
      Given a <kind> topic
      And subscription "one"
      When rule "acts" of subscription "one" is added that does <action>: everything
      And rule "$Default" of subscription "one" is removed
      And a message with Label "x" and property size 5 and property color "red" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 copy was received
      And exactly one of them has <changed>

      Examples:
        | kind        | action                              | changed                                                     |
        | partitioned | SET size = 6                        | Label "x" and property size 6 and property color "red"      |
        | regular     | SET size = 6                        | Label "x" and property size 6 and property color "red"      |
        | partitioned | SET sys.Label = 'y'                 | Label "y" and property size 5 and property color "red"      |
        | partitioned | SET weight = size + 1               | property weight 6 and property size 5                       |
        | partitioned | SET size = 6; SET user.shape = 'ab' | property size 6 and property shape "ab"                     |
        | partitioned | SET sys.CorrelationId = 'c'         | CorrelationId "c" and Label "x" and property size 5         |
        | partitioned | SET sys.CorrelationId = sys.Label; REMOVE sys.Label | CorrelationId "x" and property size 5       |
        | partitioned | SET [new-id] = newid()              | Label "x" and property size 5 and property color "red"      |

    @FILTER-21 @SCHED-02
    Scenario Outline: An action changes what was scheduled as it changes what is sent
      Given a <kind> topic
      And subscription "one"
      When rule "acts" of subscription "one" is added that does SET size = 6: everything
      And rule "$Default" of subscription "one" is removed
      And a message with property size 5 is scheduled in 5 seconds
      And 5 seconds pass
      And receivers turn to subscription "one"
      And 1 message is awaited
      Then exactly one of them has property size 6

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FILTER-21
    Scenario Outline: An action changes each message, however it is sent
      Given a <kind> topic
      And subscription "one"
      And a transaction
      When rule "acts" of subscription "one" is added that does SET size = 6: everything
      And rule "$Default" of subscription "one" is removed
      And <sent>
      And the transaction is committed
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 2 messages were received
      And each of them has Label "x" and property size 6

      Examples:
        | kind        | sent                                                                                           |
        | partitioned | 2 messages with PartitionKey "a" and Label "x" and property size 5 are sent                    |
        | partitioned | 2 messages with PartitionKey "a" and Label "x" and property size 5 are sent at once            |
        | partitioned | 2 messages with PartitionKey "a" and Label "x" and property size 5 are sent in the transaction |
        | partitioned | 2 messages with PartitionKey "a" and Label "x" and property size 5 are sent at once in the transaction |
        | regular     | 2 messages with PartitionKey "a" and Label "x" and property size 5 are sent at once            |
        | regular     | 2 messages with PartitionKey "a" and Label "x" and property size 5 are sent in the transaction |

    @FILTER-03 @TXN-12
    Scenario Outline: Each message of a transaction is filtered by itself
      Given a <kind> topic
      And subscription "one" that takes messages with Label "x"
      And subscription "two" that takes messages where size > 5
      And a transaction
      And a message with PartitionKey "a" and Label "x" and property size 5 was sent in the transaction
      And a message with PartitionKey "a" and Label "y" and property size 6 was sent in the transaction
      When the transaction is committed
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "x"
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "y"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FILTER-21
    Scenario Outline: REMOVE takes a property away, if it is there
      Given a <kind> topic
      And subscription "one"
      When rule "acts" of subscription "one" is added that does REMOVE color; REMOVE shape: everything
      And rule "$Default" of subscription "one" is removed
      And a message with property size 5 and property color "red" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 copy was received
      And none of them has property color of any value
      And exactly one of them has property size 5

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FILTER-29
    Scenario Outline: Statements of an action run one after the other
      Given a <kind> topic
      And subscription "one"
      When rule "acts" of subscription "one" is added that does <action>: everything
      And rule "$Default" of subscription "one" is removed
      And a message with property size 5 and property color "red" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 copy was received
      And exactly one of them has <changed>

      Examples:
        | kind        | action                                    | changed                                  |
        | partitioned | SET size = 6; SET size = size + 1         | property size 7 and property color "red" |
        | regular     | SET size = 6, SET weight = size           | property size 6 and property weight 6    |
        | partitioned | SET size = size / 2 SET weight = size;    | property size 2 and property weight 2    |
        | partitioned | SET shape = color; SET color = 'blue'     | property shape "red" and property color "blue" |
        | partitioned | SET weight = 6; REMOVE size; SET [size] = weight | property size 6 and property weight 6 |
        | partitioned | SET sys.Label = 'y'; SET shape = sys.Label | Label "y" and property shape "y"        |

    @FILTER-22
    Scenario Outline: Two rules with actions and three without make three copies
      Given a <kind> topic
      And subscription "one"
      When rule "second" of subscription "one" is added: messages with Label "x"
      And rule "third" of subscription "one" is added: everything
      And rule "louder" of subscription "one" is added that does SET volume = 11: messages with Label "x"
      And rule "softer" of subscription "one" is added that does SET volume = 1: everything
      And a message with Label "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 3 copies were received
      And exactly one of them has property volume 11
      And exactly one of them has property volume 1
      And exactly one of them is as it was sent

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FILTER-22
    Scenario: A rule with an action that does not take a message makes no copy
      Given a topic
      And subscription "one"
      When rule "louder" of subscription "one" is added that does SET volume = 11: messages with Label "x"
      And a message with Label "y" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 copy was received
      And exactly one of them is as it was sent

    @FILTER-23
    Scenario: A copy names the rule that made it
      Given a topic
      And subscription "one"
      When rule "louder" of subscription "one" is added that does SET volume = 11: everything
      And a message with Label "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 2 copies were received
      And exactly one of them has property volume 11 and property RuleName "louder"
      And exactly one of them has property RuleName of any value

    @FILTER-24
    Scenario: What an action changes is changed in its copy alone
      Given a topic
      And subscription "one"
      And subscription "two"
      When rule "louder" of subscription "one" is added that does SET sys.Label = 'loud'; REMOVE size: everything
      And a message with Label "x" and property size 5 is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 2 copies were received
      And exactly one of them is as it was sent
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 copy was received
      And exactly one of them is as it was sent

    @FILTER-25
    Scenario Outline: An action that is no SQL is refused
      Given a topic
      And subscription "one"
      When rule "wrong" of subscription "one" is added that does <action>: everything
      Then it is refused
      And the rules of subscription "one" are "$Default"

      Examples:
        | action          |
        | SET size        |
        | SET size =      |
        | size = 5        |
        | DELETE size     |
        | REMOVE          |
        | SET size = (1   |

    @FILTER-26
    Scenario: 50 characters are not too many for the name of a rule
      Given a topic
      And subscription "one"
      When a rule with a name of 50 characters of subscription "one" is added: everything
      Then it is accepted

    @FILTER-27
    Scenario: 51 characters are too many for the name of a rule
      Given a topic
      And subscription "one"
      When a rule with a name of 51 characters of subscription "one" is added: everything
      Then it is refused
      And the rules of subscription "one" are "$Default"

  Rule: A condition in SQL takes the messages for which it is true

    @FILTER-11
    Scenario Outline: SQL compares
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition                | taken                               | other                               |
        | color = 'red'            | property color "red"                | property color "blue"               |
        | user.color <> 'red'      | property color "blue"               | property color "red"                |
        | color != 'it''s'         | property color "its"                | property color "it's"               |
        | size < 5                 | property size 4                     | property size 5                     |
        | size <= 5                | property size 5                     | property size 6                     |
        | size > 5                 | property size 6                     | property size 5                     |
        | size >= 5.5              | property size 6                     | property size 5                     |
        | size > 5.25              | property size 5.5                   | property size 5.25                  |
        | size = -2.5              | property size -2.5                  | property size -2                    |
        | width = height           | property width 2 and property height 2 | property width 2 and property height 3 |
        | size > 0.5E2             | property size 51                    | property size 50                    |
        | size < 0.5E-2            | property size 0                     | property size 0.25                  |
        | urgent = TRUE            | property urgent true                | property urgent false               |
        | sys.Label = 'x'          | Label "x"                           | Label "y"                           |
        | sys.CorrelationId = 'c'  | CorrelationId "c"                   | CorrelationId "d"                   |

    @FILTER-12
    Scenario Outline: SQL combines conditions
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition                      | taken                                             | other                                             |
        | a = 1 AND b = 1                | property a 1 and property b 1                     | property a 1 and property b 2                     |
        | a = 1 OR b = 1                 | property a 2 and property b 1                     | property a 2 and property b 2                     |
        | NOT a = 1 AND b = 1            | property a 2 and property b 1                     | property a 2 and property b 2                     |
        | NOT (a = 1 AND b = 1)          | property a 2 and property b 2                     | property a 1 and property b 1                     |
        | a = 1 OR b = 1 AND c = 1       | property a 1 and property b 2 and property c 2    | property a 2 and property b 1 and property c 2    |
        | (a = 1 OR b = 1) AND c = 1     | property a 1 and property b 2 and property c 1    | property a 1 and property b 1 and property c 2    |

    @FILTER-13
    Scenario Outline: SQL asks whether a property is there
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition              | taken                 | other                |
        | EXISTS (color)         | property color "red"  | property size 5      |
        | NOT EXISTS (color)     | property size 5       | property color "red" |
        | color IS NULL          | property size 5       | property color "red" |
        | color IS NULL          | property color null   | property color "red" |
        | color IS NOT NULL      | property color "red"  | property color null  |
        | NOT (color = 'red') OR color IS NULL | property color null | property color "red" |
        | user.color IS NOT NULL | property color "red"  | property size 5      |
        | size IS NOT NULL       | property size 0       | property color "red" |
        | sys.EnqueuedTimeUtc IS NOT NULL AND EXISTS (size) | property size 5 | property color "red" |

    @FILTER-14
    Scenario Outline: SQL asks for one of several values
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition                     | taken                  | other                 |
        | color IN ('red', 'blue')      | property color "blue"  | property color "pink" |
        | color IN ('red', 'blue')      | property color "red"   | property color "redder" |
        | color NOT IN ('red', 'blue')  | property color "pink"  | property color "red"  |
        | size IN (1, 2, 3)             | property size 3        | property size 4       |
        | size IN (1, 2, 3, 4, 5, 6)    | property size 6        | property size 7       |

    @FILTER-15
    Scenario Outline: SQL matches patterns
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition                    | taken                    | other                   |
        | code LIKE 'ab%'              | property code "ab"       | property code "cab"     |
        | code LIKE '%b%'              | property code "abc"      | property code "ac"      |
        | code LIKE 'a_c'              | property code "abc"      | property code "abbc"    |
        | code NOT LIKE 'a%'           | property code "b"        | property code "a"       |
        | code LIKE '10!%' ESCAPE '!'  | property code "10%"      | property code "100"     |
        | code LIKE 'a!_c' ESCAPE '!'  | property code "a_c"      | property code "abc"     |
        | code LIKE 'a.c'              | property code "a.c"      | property code "abc"     |

    @FILTER-16
    Scenario Outline: SQL reckons
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition            | taken            | other            |
        | size + 2 * 3 = 10    | property size 4  | property size 2  |
        | (size + 2) * 3 = 18  | property size 4  | property size 2  |
        | size % 3 = 1         | property size 4  | property size 5  |
        | size / 2 = 2         | property size 4  | property size 8  |
        | size / 2 = 2         | property size 5  | property size 6  |
        | size - 1 > -1        | property size 1  | property size 0  |

    @FILTER-17
    Scenario Outline: A condition that is unknown does not take a message
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with property other 1 is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition                        | taken                  |
        | color <> 'red'                   | property color "blue"  |
        | NOT color = 'red'                | property color "blue"  |
        | NOT (size + 1 = 3)               | property size 4        |
        | color NOT LIKE 'r%'              | property color "blue"  |
        | color NOT IN ('red')             | property color "blue"  |
        | color = 'red' OR size = 4        | property size 4        |
        | NOT (color = 'red' AND size = 4) | property size 5        |

    @FILTER-18
    Scenario Outline: The case of a property's name does not count, that of its value does
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition         | taken                 | other                 |
        | COLOR = 'red'     | property color "red"  | property color "RED"  |
        | [SIZE-of] = 5     | property size-of 5    | property size-of 6    |
        | user.Color = 'r'  | property cOLOR "r"    | property cOLOR "R"    |
        | sys.LABEL = 'x'   | Label "x" and property a 1 | Label "X" and property a 1 |

    @FILTER-19
    Scenario Outline: What is no SQL is refused and changes nothing
      Given a topic
      And subscription "one" that takes messages with Label "x"
      When rule "second" of subscription "one" is added: messages where <condition>
      Then it is refused
      And the rules of subscription "one" are "first"

      Examples:
        | condition             |
        | color =               |
        | color = 'red          |
        | = 'red' color         |
        | (color = 'red'        |
        | color = 'red' AND     |
        | color LIKE            |

    @FILTER-28
    Scenario Outline: Values of different types are never equal
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition                           | taken                | other                |
        | size = 5                            | property size 5      | property size "5"    |
        | size = '5'                          | property size "5"    | property size 5      |
        | size = 5.0                          | property size 5      | property size "5.0"  |
        | urgent = TRUE                       | property urgent true | property urgent 1    |
        | newid() = size OR size IN (5, 6)    | property size 5      | property size "5"    |

    @FILTER-30
    Scenario Outline: A property is named in brackets, in double quotes, or by a function
      Given a topic
      And subscription "one" that takes messages where <condition>
      When a message with <taken> is sent
      And a message with <other> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <taken>

      Examples:
        | condition                     | taken                       | other                      |
        | [size-of] = 5                 | property size-of 5          | property size 5            |
        | user.[Shop.Types] LIKE '%b%'  | property Shop.Types "abc"   | property Shop.Types "ac"   |
        | "size-of" > 4                 | property size-of 5          | property size-of 4         |
        | EXISTS ([size-of])            | property size-of 5          | property size 5            |
        | property('size') = 5          | property size 5             | property size 6            |
        | p(which) = 5                  | property which "a" and property a 5 | property which "b" and property a 5 |

    @FILTER-31
    Scenario Outline: SQL reads the partition key
      Given a <kind> topic
      And subscription "one" that takes messages where <condition>
      When a message with PartitionKey "a" is sent
      And a message with PartitionKey "b" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has PartitionKey "a"

      Examples:
        | kind        | condition                      |
        | partitioned | sys.PartitionKey = 'a'         |
        | regular     | sys.PartitionKey = 'a'         |
        | partitioned | sys.partitionkey NOT LIKE 'b'  |

    @FILTER-32
    Scenario Outline: A filter in SQL is accepted
      Given a topic
      And subscription "one" that takes nothing
      When rule "second" of subscription "one" is added: messages where <condition>
      Then it is accepted

      Examples:
        | condition                                  |
        | [data-topic] IS NOT NULL                   |
        | "Contoso & Northwind" = 'x'                |
        | size > 0.5E-2                              |
        | newid() <> size                            |
        | p('color') = 'red'                         |
        | sys.SequenceNumber > 5                     |
        | sys.EnqueuedTimeUtc IS NOT NULL            |
        | NOT (size IN (1, 2.5, 'x') OR a LIKE '!%' ESCAPE '!') |

  Rule: Rules change on partitioned topics, though not in a transaction

    @FEAT-01
    Scenario: A rule that is added on a partitioned topic takes messages of every partition
      Given a partitioned topic
      And subscription "one" that takes nothing
      When rule "second" of subscription "one" is added: messages with Label "x"
      Then it is accepted
      When 48 messages with Label "x" are sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 48 messages were received

    @FEAT-02
    Scenario: A rule that is removed on a partitioned topic takes no message of any partition
      Given a partitioned topic
      And subscription "one"
      When rule "$Default" of subscription "one" is removed
      Then it is accepted
      When 48 messages without key are sent
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @FEAT-03
    Scenario: On a partitioned topic a rule is not added in a transaction
      Given a partitioned topic
      And subscription "one" that takes nothing
      And a transaction
      When rule "in-transaction" of subscription "one" is added in the transaction: everything
      Then it is refused
      When a message without key is sent
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @FEAT-03
    Scenario: On a partitioned topic a rule is not removed in a transaction
      Given a partitioned topic
      And subscription "one"
      And a transaction
      When rule "$Default" of subscription "one" is removed in the transaction
      Then it is refused
      When a message without key is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

    @FEAT-18
    Scenario: On a regular topic a rule is added in a transaction, where it is read so
      Given a regular topic
      And subscription "one" that takes nothing
      And a transaction
      When rule "in-transaction" of subscription "one" is added in the transaction: everything
      Then it is accepted
      When the transaction is committed
      And a message without key is sent
      And receivers turn to subscription "one"
      And a receive is tried
      Then exactly 1 message was received

    @FEAT-04
    Scenario: On a regular topic a rule may be added in a transaction, or not
      Given a regular topic
      And subscription "one" that takes nothing
      And a transaction
      When rule "in-transaction" of subscription "one" is added in the transaction: everything
      Then it is accepted or refused

    @FEAT-19
    Scenario: On a regular topic a rule that was added in a transaction goes with its roll back
      Given a regular topic
      And subscription "one" that takes nothing
      And a transaction
      When rule "in-transaction" of subscription "one" is added in the transaction: everything
      Then it is accepted or refused
      When a message with MessageId "before" is sent
      And the transaction is rolled back, if it can be
      And a message with MessageId "after" is sent
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @FEAT-19
    Scenario: On a regular topic a rule that was added in a transaction is there after its commit
      Given a regular topic
      And subscription "one" that takes nothing
      And a transaction
      When rule "in-transaction" of subscription "one" is added in the transaction: everything
      Then it is accepted or refused
      When the transaction is committed, if it can be
      And a message without key is sent
      And receivers turn to subscription "one"
      And a receive is tried
      Then at most 1 message was received
