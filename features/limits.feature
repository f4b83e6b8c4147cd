Feature: Request limits
  How large a message and how long its keys may be, how many messages a transaction may have, and
  how long the name of an entity may be. A request that reaches a limit is accepted; one beyond it
  is refused and leaves nothing behind.

  Rule: A message may be as large as its tier allows

    @LIMIT-01
    Scenario Outline: A message of 256 KB is taken
      Given a <kind> queue
      When a message with a body of 251904 bytes is sent
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-02
    Scenario Outline: A larger one is refused
      Given a <kind> queue
      When a message with a body of 262145 bytes is sent
      Then it is refused because it is too large
      When everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-03
    Scenario: Premium takes a message of 1 MB
      Given a queue
      When a message with a body of 995904 bytes is sent
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

    @LIMIT-04
    Scenario: Premium takes no message of more than 100 MB
      Given a queue
      When a message with a body of 104857601 bytes is sent
      Then it is refused because it is too large
      When everything is received and completed
      Then exactly 0 messages were received

    @LIMIT-05
    Scenario: Premium may take a message of 2 MB
      Given a queue
      When a message with a body of 2000000 bytes is sent
      Then it is accepted, or refused because it is too large

    @LIMIT-06
    Scenario Outline: A message that is too large cannot be scheduled
      Given a <kind> queue
      When a message with a body larger than the tier takes is scheduled in 1 second
      Then it is refused because it is too large
      When 2 seconds pass
      And everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-21
    Scenario Outline: A message that is too large cannot be sent in a transaction
      Given a <kind> queue
      And a transaction
      When a message with PartitionKey "a" and a body larger than the tier takes is sent in the transaction
      Then it is refused, or the transaction's commit is refused
      When the transaction is committed, if it can be
      And everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-02
    Scenario Outline: What is too large for a topic reaches no subscription
      Given a <kind> topic
      And subscription "one"
      When <large>
      Then it is refused
      When a message with Label "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "x"

      Examples:
        | kind        | large                                         |
        | partitioned | a message with a body of 262145 bytes is sent |
        | regular     | a message with a body of 262145 bytes is sent |

    @BATCH-07
    Scenario Outline: A batch that is too large for a topic reaches no subscription
      Given a <kind> topic
      And subscription "one"
      When <large>
      Then it is refused
      When a message with Label "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "x"

      Examples:
        | kind        | large                                                                  |
        | partitioned | 3 messages with PartitionKey "a" and a body of 100 KB are sent at once |
        | regular     | 3 messages with PartitionKey "a" and a body of 100 KB are sent at once |

    @LIMIT-08 @LIMIT-10 @LIMIT-12
    Scenario Outline: What has too long a key for a topic reaches no subscription
      Given a <kind> topic
      And subscription "one"
      When <large>
      Then it is refused
      When a message with Label "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "x"

      Examples:
        | kind        | large                                                 |
        | partitioned | a message with MessageId of 129 characters is sent    |
        | partitioned | a message with SessionId of 129 characters is sent    |
        | partitioned | a message with PartitionKey of 129 characters is sent |
        | regular     | a message with MessageId of 129 characters is sent    |
        | regular     | a message with SessionId of 129 characters is sent    |
        | regular     | a message with PartitionKey of 129 characters is sent |

    @LIMIT-13 @LIMIT-14
    Scenario Outline: What has too large properties for a topic reaches no subscription
      Given a <kind> topic
      And subscription "one"
      When <large>
      Then it is refused
      When a message with Label "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "x"

      Examples:
        | kind        | large                                                   |
        | partitioned | a message with 1 property of 32768 bytes is sent        |
        | partitioned | a message with 3 properties of 22000 bytes each is sent |
        | regular     | a message with 1 property of 32768 bytes is sent        |
        | regular     | a message with 3 properties of 22000 bytes each is sent |

  Rule: A key may have 128 characters

    @LIMIT-07 @LIMIT-09 @LIMIT-11
    Scenario Outline: 128 characters are not too many
      Given a <kind> queue
      When a message with <key> of 128 characters is sent
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | key          |
        | partitioned | MessageId    |
        | partitioned | SessionId    |
        | partitioned | PartitionKey |
        | regular     | MessageId    |
        | regular     | SessionId    |
        | regular     | PartitionKey |

    @LIMIT-08 @LIMIT-10 @LIMIT-12
    Scenario Outline: 129 characters are too many
      Given a <kind> queue
      When a message with <key> of 129 characters is sent
      Then it is refused
      When everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        | key          |
        | partitioned | MessageId    |
        | partitioned | SessionId    |
        | partitioned | PartitionKey |
        | regular     | MessageId    |
        | regular     | SessionId    |
        | regular     | PartitionKey |

    @LIMIT-08 @LIMIT-10 @LIMIT-12
    Scenario Outline: 129 characters are too many for what is scheduled
      Given a <kind> queue
      When a message with <key> of 129 characters is scheduled in 1 second
      Then it is refused
      When 2 seconds pass
      And everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        | key          |
        | partitioned | MessageId    |
        | partitioned | SessionId    |
        | partitioned | PartitionKey |
        | regular     | MessageId    |
        | regular     | SessionId    |
        | regular     | PartitionKey |

  Rule: Properties have a limit each, and together

    @LIMIT-13 @LIMIT-14
    Scenario Outline: Small properties are taken
      Given a <kind> queue
      When a message with 2 properties of 7000 bytes each is sent
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-13
    Scenario Outline: A property of more than 32 KB is refused
      Given a <kind> queue
      When a message with 1 property of 32768 bytes is sent
      Then it is refused
      When everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-14
    Scenario Outline: Properties of more than 64 KB together are refused
      Given a <kind> queue
      When a message with 3 properties of 22000 bytes each is sent
      Then it is refused
      When everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A transaction takes 100 messages

    @LIMIT-15
    Scenario Outline: 100 messages are not too many
      Given a <kind> queue
      And a transaction
      When 100 messages with PartitionKey "a" are sent in the transaction
      Then all of them are accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 100 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-16
    Scenario Outline: One more is too many
      Given a <kind> queue
      And a transaction
      And 100 messages with PartitionKey "a" were sent in the transaction
      When a message with PartitionKey "a" is sent in the transaction
      Then it is refused
      When the transaction is committed, if it can be
      And everything is received and completed
      Then at most 100 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-16
    Scenario Outline: One more is too many, in a batch too
      Given a <kind> queue
      And a transaction
      And 99 messages with PartitionKey "a" were sent in the transaction
      When 2 messages with PartitionKey "a" are sent at once in the transaction
      Then it is refused
      When the transaction is committed, if it can be
      And everything is received and completed
      Then at most 99 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: The name of an entity may have 260 characters

    @LIMIT-17
    Scenario Outline: 260 characters are not too many for a name
      Given an empty namespace
      When a <kind> <entity> with a name of 260 characters is created
      Then it is accepted

      Examples:
        | kind        | entity |
        | partitioned | queue  |
        | regular     | queue  |
        | partitioned | topic  |
        | regular     | topic  |

    @LIMIT-18
    Scenario Outline: 261 characters are too many for a name
      Given an empty namespace
      When a <kind> <entity> with a name of 261 characters is created
      Then it is refused
      When a message without key is sent to a name of 261 characters
      Then it is refused because it is not found

      Examples:
        | kind        | entity |
        | partitioned | queue  |
        | regular     | queue  |
        | partitioned | topic  |
        | regular     | topic  |

  Rule: A session's state may be as large as a message of Standard

    @LIMIT-19
    Scenario Outline: A large state is kept
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      And session "a" is given a state of 62000 characters
      Then it is accepted
      And the state of session "a" has 62000 characters

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-20
    Scenario Outline: A larger one is refused, and leaves the one before
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      And session "a" is given the state "before"
      And session "a" is given a state of 262145 characters
      Then it is refused
      And the state of session "a" is "before"

      Examples:
        | kind        |
        | partitioned |
        | regular     |
