Feature: Property and body values in transit
  The receiver gets each value as the sender has set it: numbers as numbers, true as true, an empty
  text as an empty text, and every letter of every alphabet. Whichever way a message takes, its
  values are the same at the end.

  Rule: A value arrives as it was sent

    @LIFE-01
    Scenario Outline: A value arrives with its type
      Given a <kind> queue
      When a message with property value <value> is sent
      And everything is received and completed
      Then it has property value <value>

      Examples:
        | kind        | value            |
        | partitioned | 0                |
        | partitioned | -1               |
        | partitioned | 255              |
        | partitioned | 32768            |
        | partitioned | 2147483648       |
        | partitioned | -2147483649      |
        | partitioned | 2147483647       |
        | partitioned | -2147483648      |
        | partitioned | 4294967296       |
        | partitioned | 9007199254740991 |
        | partitioned | 9007199254740993 |
        | partitioned | -9007199254740993 |
        | partitioned | 9223372036854775807 |
        | partitioned | -9223372036854775808 |
        | partitioned | 2.5              |
        | partitioned | -0.125           |
        | partitioned | 1e300            |
        | partitioned | true             |
        | partitioned | false            |
        | partitioned | null             |
        | partitioned | ""               |
        | partitioned | "0"              |
        | partitioned | "true"           |
        | partitioned | " a  b "         |
        | partitioned | "żółć 日本 🚌"     |
        | regular     | 9007199254740991 |
        | regular     | 9007199254740993 |
        | regular     | -9223372036854775808 |
        | regular     | 2.5              |
        | regular     | true             |
        | regular     | ""               |

    @LIFE-01
    Scenario Outline: Texts that the bus does not read arrive as they were sent
      Given a <kind> queue
      When a message with <carried> is sent
      And everything is received and completed
      Then it has <carried>

      Examples:
        | kind        | carried                                                         |
        | partitioned | Label "żółć 日本 🚌" and CorrelationId "Ünïcode" and MessageId "ñ" |
        | partitioned | To "a b" and ReplyTo "c/d?e=f" and ContentType "text/plain"     |
        | partitioned | CorrelationId of 200 characters and Label of 200 characters     |
        | partitioned | ReplyToSessionId "ñ" and SessionId "日本"                         |
        | partitioned | MessageId of 128 characters and SessionId of 128 characters     |
        | partitioned | PartitionKey of 128 characters                                  |
        | partitioned | MessageId " a  b " and PartitionKey " k " and Label " x "        |
        | partitioned | property Yes true and property nUMBER 2.5 and property yes_2 "no" |
        | partitioned | property a 1 and property b 2 and property c 3 and property d 4 and property e 5 and property f 6 and property g 7 and property h 8 and property i 9 and property j 10 and property k 11 and property l 12 |
        | regular     | MessageId " a  b " and SessionId " s " and CorrelationId " c "   |
        | regular     | MessageId of 128 characters and SessionId of 128 characters     |
        | regular     | Label "żółć 日本 🚌" and PartitionKey "日本"                         |

    @LIFE-01
    Scenario Outline: The case of a text stays as it is
      Given a <kind> queue
      When a message with MessageId "AbC" and PartitionKey "aBc" and Label "ABC" is sent
      And everything is received and completed
      Then it has MessageId "AbC" and PartitionKey "aBc" and Label "ABC"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-01
    Scenario Outline: A body arrives with all its letters
      Given a <kind> queue
      And a message with the body "żółć 日本 🚌 % & < ; '" was sent
      And a message with a body of 70000 characters was sent
      And a message with a body of 300 characters was sent
      And a message with the body " a  b " was sent
      And a message with a body of several lines was sent
      When everything is received and completed
      Then exactly 5 messages were received
      And one of them has the body "żółć 日本 🚌 % & < ; '"
      And one of them has a body of 70000 characters
      And one of them has a body of 300 characters
      And one of them has the body " a  b "
      And one of them has a body of several lines

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-01
    Scenario Outline: A value arrives where messages are received at once and deleted
      Given a partitioned queue
      When a message with <carried> is sent
      And a receive is tried
      Then it has <carried>

      Examples:
        | carried                                                                                                       |
        | property yes true and property number 2.5 and Label "ñ"                                                       |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @LIFE-07
    Scenario Outline: A peek shows values as they were sent
      Given a regular queue
      When a message with <carried> is sent
      And messages are peeked
      Then the message shown has <carried>

      Examples:
        | carried                                                        |
        | property yes true and property number 2.5 and property none "" |
        | property zero 0 and property large 2147483648                  |
        | Label "żółć 日本 🚌" and MessageId "ñ"                            |
        | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

  Rule: A message keeps its values when it is given again

    @LIFE-04
    Scenario Outline: Abandoned, a message comes again with its values
      Given a <kind> queue
      When a message with <carried> is sent
      And one message is received and abandoned
      And everything is received and completed
      Then it has <carried>

      Examples:
        | kind        | carried                                                            |
        | partitioned | property yes true and property number 2.5 and property none ""     |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x"     |
        | regular     | property no false and property large 2147483648 and ReplyTo "r"    |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @LIFE-05
    Scenario Outline: After its lock a message comes again with its values
      Given a <kind> queue with locks of 5 seconds
      When a message with <carried> is sent
      And a message is received and kept
      And 5 seconds pass
      And everything is received and completed
      Then it has <carried>

      Examples:
        | kind        | carried                                                            |
        | partitioned | property yes true and property number 2.5 and property none ""     |
        | regular     | Label "ñ" and CorrelationId "c" and ReplyToSessionId "s"           |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @PART-04
    Scenario Outline: After an outage a message comes with its values
      Given a partitioned queue
      And a message with <carried> was sent
      When every partition is down for a while
      And everything is received and completed
      Then it has <carried>

      Examples:
        | carried                                                                                                       |
        | property yes true and property number 2.5 and Label "ñ"                                                       |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @LIFE-04 @TOPIC-01
    Scenario Outline: A subscription gives a message with its values as often as it gives it
      Given a <kind> topic
      And subscription "one" with locks of 10 seconds
      And a message with <carried> was sent
      When receivers turn to subscription "one"
      And a message is received 3 times, <how> each time
      Then each of them has <carried>

      Examples:
        | kind        | how                 | carried                                                                                                                   |
        | partitioned | abandoned           | property yes true and property number 2.5 and property none ""                                                            |
        | partitioned | deferred            | property yes true and property number 2.5 and property none ""                                                            |
        | partitioned | kept for 10 seconds | property yes true and property number 2.5 and property none ""                                                            |
        | partitioned | abandoned           | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | deferred            | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | kept for 10 seconds | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | regular     | abandoned           | property yes true and property number 2.5 and property none ""                                                            |
        | regular     | deferred            | property yes true and property number 2.5 and property none ""                                                            |
        | regular     | kept for 10 seconds | property yes true and property number 2.5 and property none ""                                                            |

    @LIFE-04 @SESS-05
    Scenario Outline: A session gives a message with its values as often as it gives it
      Given a <kind> queue that requires sessions
      And a message with SessionId "s" and <carried> was sent
      When session "s" is accepted
      And a message of session "s" is received 3 times, <how> each time
      Then each of them has SessionId "s" and <carried>

      Examples:
        | kind        | how       | carried                                                                                                                   |
        | partitioned | abandoned | property yes true and property number 2.5 and property none ""                                                            |
        | partitioned | deferred  | property yes true and property number 2.5 and property none ""                                                            |
        | partitioned | abandoned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "r" and MessageId "m" |
        | partitioned | deferred  | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "r" and MessageId "m" |
        | regular     | abandoned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "r" and MessageId "m" |
        | regular     | deferred  | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "r" and MessageId "m" |

    @LIFE-04 @DLQ-06
    Scenario Outline: A dead letter has its values and its reason as often as it is given
      Given a <kind> queue with locks of 10 seconds
      And a message with <carried> was sent
      When a message is received and dead-lettered because of "unreadable"
      And receivers turn to its dead letters
      And a message is received 3 times, <how> each time
      Then each of them has <carried>
      And each of them is a dead letter because of "unreadable"

      Examples:
        | kind        | how                 | carried                                                                                                                   |
        | partitioned | abandoned           | property yes true and property number 2.5 and property none ""                                                            |
        | partitioned | deferred            | property yes true and property number 2.5 and property none ""                                                            |
        | partitioned | kept for 10 seconds | property yes true and property number 2.5 and property none ""                                                            |
        | partitioned | abandoned           | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | deferred            | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | kept for 10 seconds | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | regular     | abandoned           | property yes true and property number 2.5 and property none ""                                                            |
        | regular     | deferred            | property yes true and property number 2.5 and property none ""                                                            |
        | regular     | kept for 10 seconds | property yes true and property number 2.5 and property none ""                                                            |

    @DEFER-02
    Scenario Outline: A deferred message has its values
      Given a <kind> queue
      When a message with <carried> is sent
      And a message is received and deferred
      And it is received by its number and completed
      Then it has <carried>

      Examples:
        | kind        | carried                                                            |
        | partitioned | property yes true and property number 2.5 and property none ""     |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x"     |
        | regular     | property no false and property large 2147483648 and ReplyTo "r"    |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @DLQ-06
    Scenario Outline: A dead letter has its values
      Given a <kind> queue
      When a message with <carried> is sent
      And a message is received and dead-lettered because of "unreadable"
      And everything among its dead letters is received and completed
      Then it has <carried>

      Examples:
        | kind        | carried                                                            |
        | partitioned | property yes true and property number 2.5 and property none ""     |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x"     |
        | partitioned | SessionId "s" and MessageId "m" and ReplyToSessionId "r"           |
        | regular     | property no false and property large 2147483648 and ReplyTo "r"    |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @DLQ-06
    Scenario Outline: A message that was given too often has its values
      Given a partitioned queue with 2 deliveries
      When a message with <carried> is sent
      And one message is received and abandoned, as often as permitted
      And 1 message among its dead letters is awaited
      Then it has <carried>

      Examples:
        | carried                                                                                                       |
        | property yes true and property number 2.5 and Label "ñ"                                                       |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @DLQ-06
    Scenario Outline: A dead letter of a subscription has its values
      Given a partitioned topic
      And subscription "one"
      And a message with <carried> was sent
      When receivers turn to subscription "one"
      And a message is received and dead-lettered because of "unreadable"
      And everything among its dead letters is received and completed
      Then it has <carried>
      And it is a dead letter because of "unreadable"

      Examples:
        | carried                                                                                                       |
        | property yes true and property number 2.5 and Label "ñ" and CorrelationId "c"                                 |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @DLQ-05
    Scenario Outline: The reason of a dead letter is the text that was given
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When a message is received and dead-lettered because of "<reason>"
      And everything among its dead letters is received and completed
      Then it is a dead letter because of "<reason>"

      Examples:
        | kind        | reason                                                                                            |
        | partitioned | żółć 日本 🚌                                                                                        |
        | partitioned | the amount of 12.50 that order 4711 names is not the amount of 12.05 that its invoice asks for |
        | regular     | ñ                                                                                                 |

    @LOCK-14 @DLQ-05
    Scenario: Messages that are dead-lettered together have the reason that was given
      Given a regular queue
      And 3 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And all of them are dead-lettered because of "unreadable" in one request
      And 3 messages among its dead letters are awaited
      Then it is a dead letter because of "unreadable"

    @TTL-07
    Scenario Outline: A message that expired has its values
      Given a partitioned queue with a time to live of 10 seconds and that dead-letters expired messages
      When a message with <carried> is sent
      And 10 seconds pass
      And 1 message among its dead letters is awaited
      Then it has <carried>

      Examples:
        | carried                                                                                                       |
        | property yes true and property number 2.5 and Label "ñ"                                                       |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

  Rule: However a message is sent, its values arrive

    @BATCH-01
    Scenario Outline: Each message of a batch has its own values
      Given a <kind> queue
      When a message with PartitionKey "a" and <first> and one with PartitionKey "a" and <second> are sent at once
      Then it is accepted
      When everything is received and completed
      Then exactly 2 messages were received
      And one of them has <first>
      And one of them has <second>

      Examples:
        | kind        | first                                     | second                                       |
        | partitioned | property yes true                         | property yes false                           |
        | partitioned | property number 5                         | property number "5"                          |
        | partitioned | property number 2.5 and property text ""  | property other 7                             |
        | partitioned | MessageId "m" and Label "ñ"               | MessageId "n" and Label "o"                  |
        | partitioned | CorrelationId "c" and To "x"              | ContentType "t" and ReplyTo "r"              |
        | regular     | property number 2147483648                | property number -2147483649                  |
        | regular     | ReplyToSessionId "r" and MessageId "m"    | Label "żółć 日本 🚌"                            |

    @BATCH-13
    Scenario Outline: Messages that are received at once have their values
      Given a <kind> queue
      And 4 messages with <carried> were sent
      When up to 4 messages are received at once and completed, to the end
      Then exactly 4 messages were received
      And each of them has <carried>

      Examples:
        | kind        | carried                                                                                                                      |
        | partitioned | PartitionKey "a" and property yes true and property number 2.5 and property none ""                                          |
        | partitioned | PartitionKey "a" and Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" |
        | regular     | property yes true and property number 2.5 and property none ""                                                               |

    @BATCH-01
    Scenario: Each message of a batch for a session has its own values
      Given a partitioned queue that requires sessions
      When a message with SessionId "s" and Label "a" and property yes true and one with SessionId "s" and Label "b" and property yes 1 are sent at once
      Then it is accepted
      When session "s" is accepted
      And everything of session "s" is received and completed
      Then number 1 of them has Label "a" and property yes true
      And number 2 of them has Label "b" and property yes 1

    @TXN-12
    Scenario Outline: What is sent in a transaction arrives with its values
      Given a <kind> queue
      And a transaction
      When a message with PartitionKey "a" and <carried> is sent in the transaction
      And the transaction is committed
      And everything is received and completed
      Then it has <carried>

      Examples:
        | kind        | carried                                                        |
        | partitioned | property yes true and property number 2.5 and property none "" |
        | partitioned | Label "ñ" and CorrelationId "c" and MessageId "m" and To "x"   |
        | regular     | property no false and property large 2147483648                |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @SCHED-02
    Scenario Outline: What was scheduled arrives with its values
      Given a <kind> queue
      And a message with <carried> was scheduled in 5 seconds
      When 5 seconds pass
      And 1 message is awaited
      Then it has <carried>

      Examples:
        | kind        | carried                                                         |
        | partitioned | property yes true and property number 2.5 and property none ""  |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x"  |
        | regular     | property no false and property large 2147483648 and ReplyTo "r" |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @SESS-05
    Scenario Outline: In a session a message has its values
      Given a partitioned queue that requires sessions
      When session "ñ" is accepted
      And a message with SessionId "ñ" and <carried> is sent
      And everything of session "ñ" is received and completed
      Then it has SessionId "ñ" and <carried>

      Examples:
        | carried                                                                                                       |
        | property yes true and property number 2.5 and ReplyToSessionId "r"                                            |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @SCHED-15
    Scenario Outline: What is scheduled in a transaction arrives with its values
      Given a <kind> queue
      And a transaction
      When a message with PartitionKey "a" and <carried> is scheduled in the transaction in 5 seconds
      And the transaction is committed
      And 5 seconds pass
      And 1 message is awaited
      Then it has PartitionKey "a" and <carried>

      Examples:
        | kind        | carried                                                        |
        | partitioned | property yes true and property number 2.5 and property none "" |
        | partitioned | Label "ñ" and CorrelationId "c" and MessageId "m" and To "x"   |
        | regular     | property no false and Label "ñ" and ReplyTo "r"                |

    @DEFER-11 @DEFER-02
    Scenario Outline: Messages that are received together by their numbers have values of their own
      Given a <kind> queue
      And a message with PartitionKey "a" and Label "x" and property yes true was sent
      And a message with PartitionKey "a" and Label "y" and property number 2.5 was sent
      When each message is received and deferred
      And all of them are received by their numbers at once
      Then exactly 2 messages were received
      And exactly one of them has Label "x" and property yes true
      And exactly one of them has Label "y" and property number 2.5
      And exactly one of them has property yes of any value

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-14 @DLQ-06
    Scenario Outline: Messages that are dead-lettered together have their values
      Given a <kind> queue
      And 2 messages with PartitionKey "a" and <carried> were sent
      When each of them is received and kept
      And all of them are dead-lettered in one request
      And receivers turn to its dead letters
      And up to 2 messages are received at once and completed, to the end
      Then exactly 2 messages were received
      And each of them has PartitionKey "a" and <carried>

      Examples:
        | kind        | carried                                                        |
        | partitioned | property yes true and property number 2.5 and property none "" |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" |
        | regular     | Label "ñ" and CorrelationId "c" and property no false          |

    @DLQ-05 @DLQ-07
    Scenario Outline: A dead letter has its reason, alone and among several
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were sent
      When each message is received and dead-lettered
      And receivers turn to its dead letters
      And a message is received 2 times, abandoned each time
      And up to 2 messages are received at once and completed, to the end
      Then each of them is a dead letter because of "unreadable"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-35
    Scenario Outline: A dead letter that is forwarded arrives with its values
      Given a <kind> destination "end"
      And a <kind> source of dead letters for "end"
      And a message with PartitionKey "a" and <carried> was sent
      When a message is received and dead-lettered because of "unreadable"
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then exactly 1 message was received
      And it has PartitionKey "a" and <carried>

      Examples:
        | kind        | carried                                                        |
        | partitioned | property yes true and property number 2.5 and property none "" |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" |
        | regular     | property no false and property large 2147483648 and Label "ñ"  |

    @SCHED-02 @TOPIC-01
    Scenario Outline: What was scheduled in a topic comes to its subscription with its values
      Given a <kind> topic
      And subscription "one"
      And a message with <carried> was scheduled in 5 seconds
      When 5 seconds pass
      And receivers turn to subscription "one"
      And 1 message is awaited
      Then it has <carried>

      Examples:
        | kind        | carried                                                        |
        | partitioned | property yes true and property number 2.5 and property none "" |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | regular     | Label "ñ" and CorrelationId "c" and property no false          |

    @FWD-07
    Scenario Outline: A message that is forwarded several times arrives with its values
      Given a <kind> destination "end"
      And a chain of 3 <kind> queues that ends in "end"
      When a message with PartitionKey "a" and <carried> is sent
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then it has PartitionKey "a" and <carried>

      Examples:
        | kind        | carried                                                        |
        | partitioned | property yes true and property number 2.5 and property none "" |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | regular     | Label "ñ" and CorrelationId "c" and property no false          |

    @SESS-17
    Scenario Outline: A session's state is the text that was set
      Given a <kind> queue that requires sessions
      When session "s" is accepted
      And session "s" is given the state "<state>"
      Then the state of session "s" is "<state>"

      Examples:
        | kind        | state          |
        | partitioned | żółć 日本 🚌     |
        | partitioned | 0              |
        | partitioned | null           |
        | partitioned | {'a': 1.50}    |
        | regular     | two  blanks    |

    @TOPIC-01
    Scenario Outline: Each subscription gets the values that were sent
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And a message with <carried> was sent
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <carried>
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <carried>

      Examples:
        | kind        | carried                                                         |
        | partitioned | property yes true and property number 2.5 and property none ""  |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x"  |
        | regular     | property no false and property large 2147483648 and ReplyTo "r" |
        | partitioned | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | partitioned | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @FWD-03
    Scenario Outline: A forwarded message arrives with its values
      Given a partitioned destination "invoices"
      And a partitioned source of "invoices"
      And a message with PartitionKey "a" and <carried> was sent
      When receivers turn to "invoices"
      And messages are awaited until there is 1
      Then it has <carried>

      Examples:
        | carried                                                        |
        | property yes true and property number 2.5 and property none "" |
        | Label "ñ" and CorrelationId "c" and ContentType "t"            |
        | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @FILTER-24
    Scenario Outline: An action leaves the values of other properties as they are
      Given a partitioned topic
      And subscription "one" that takes nothing
      When rule "acts" of subscription "one" is added that does SET mark = 'x': everything
      And a message with <carried> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then it has <carried>

      Examples:
        | carried                                                        |
        | property yes true and property number 2.5 and property none "" |
        | Label "ñ" and CorrelationId "c" and ContentType "t"            |
        | Label "ñ" and CorrelationId "c" and ContentType "t" and To "x" and ReplyTo "r" and ReplyToSessionId "s" and MessageId "m" |
        | property large 9007199254740993 and property most 9223372036854775807 and property least -9223372036854775808 |

    @FILTER-03 @FILTER-11
    Scenario: Whole numbers that differ in the last digit are two to a filter
      Given a partitioned topic
      And subscription "one" that takes messages where large = 9007199254740993
      And subscription "two" that takes messages with property large 9007199254740993
      And a message with property large 9007199254740992 was sent
      And a message with property large 9007199254740993 was sent
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has property large 9007199254740993
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received
      And it has property large 9007199254740993

  Rule: Ids that look alike are different ids

    @DUP-01
    Scenario Outline: MessageIds that differ in one letter are two
      Given a partitioned queue with duplicate detection
      And a message with MessageId "<one>" was sent
      And a message with MessageId "<other>" was sent
      When everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | one | other |
        | x   | x1    |
        | 1   | 01    |
        | ñ   | n     |
        | 日本  | 日     |
        | x   | X     |
        | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac |
