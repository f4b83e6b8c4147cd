Feature: Delivery counts and dead-letter queues
  A message that no receiver could process ends in the dead-letter queue of its entity, either after
  the maximum number of deliveries or because its receiver dead-lettered it. It stays there until a
  client receives it.

  Rule: A message is delivered so often, and no more

    @DLQ-01
    Scenario Outline: A message that comes back counts its deliveries
      Given a <kind> queue with locks of 5 seconds
      And a message without key was sent
      When one message is received and abandoned
      And a message is received and kept
      And 5 seconds pass
      And a message is received and kept
      Then it is delivery 3

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-01
    Scenario Outline: What others do is not counted
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were sent
      When one message is received and completed
      And messages are peeked
      And a message is received and kept
      Then it is delivery 1

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-03
    Scenario Outline: Before its last delivery a message comes back
      Given a <kind> queue with 3 deliveries
      And a message without key was sent
      When one message is received and abandoned, 2 times
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-03
    Scenario Outline: A message that comes back is no dead letter yet
      Given a <kind> queue with 3 deliveries
      And a message without key was sent
      When one message is received and abandoned, 2 times
      Then a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-02
    Scenario Outline: After its last delivery a message is given no more
      Given a <kind> queue with 3 deliveries
      And a message without key was sent
      When one message is received and abandoned, as often as permitted
      Then a receive finds nothing
      And a receive over another connection finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-02
    Scenario Outline: A lock that expires is a delivery too
      Given a <kind> queue with 2 deliveries and with locks of 5 seconds
      And a message without key was sent
      When a message is received as often as permitted, kept for 5 seconds each time
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-02
    Scenario Outline: A message that was delivered too often becomes a dead letter
      Given a <kind> queue with 2 deliveries
      And a message with PartitionKey "a" and MessageId "x" was sent
      When one message is received and abandoned, as often as permitted
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it is a dead letter because of "MaxDeliveryCountExceeded"
      And it has PartitionKey "a" and MessageId "x"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-04
    Scenario Outline: A message has ten deliveries where its queue says nothing
      Given a <kind> queue
      And a message without key was sent
      When one message is received and abandoned, 10 times by default
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-04
    Scenario Outline: A message whose ten deliveries failed becomes a dead letter
      Given a <kind> queue
      And a message without key was sent
      When one message is received and abandoned, 10 times by default
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A receiver can dead-letter a message

    @DLQ-05
    Scenario Outline: A message that is dead-lettered is among the dead letters
      Given a <kind> queue
      And a message without key was sent
      When a message is received and dead-lettered because of "unreadable"
      And everything among its dead letters is received and completed
      Then exactly 1 message was received
      And it is a dead letter because of "unreadable"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-06
    Scenario Outline: A dead letter has the properties that it was sent with
      Given a <kind> queue
      When a message with <properties> is sent
      And a message is received and dead-lettered because of "unreadable"
      And everything among its dead letters is received and completed
      Then it has <properties>

      Examples:
        | kind        | properties                                           |
        | partitioned | MessageId "x"                                        |
        | regular     | MessageId "x"                                        |
        | partitioned | PartitionKey "a" and MessageId "x"                   |
        | regular     | PartitionKey "a" and MessageId "x"                   |
        | partitioned | SessionId "a" and PartitionKey "a" and MessageId "x" |

    @DLQ-14
    Scenario Outline: A message that is dead-lettered is in its queue no more
      Given a <kind> queue
      And a message without key was sent
      When a message is received and dead-lettered because of "unreadable"
      Then a receive finds nothing
      And a receive over another connection finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-06 @DLQ-14
    Scenario Outline: With a lock that has expired nothing is dead-lettered
      Given a <kind> queue with locks of 5 seconds
      And a message without key was sent
      When a message is received and kept
      And 5 seconds pass
      And the message kept is dead-lettered
      Then it is refused
      And a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-06
    Scenario Outline: Nothing is dead-lettered twice
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      And the message kept is dead-lettered
      And the message kept is dead-lettered
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Dead letters wait to be dealt with

    @DLQ-07
    Scenario Outline: A dead letter that is abandoned can be received again, a completed one is gone
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When one message among its dead letters is received and abandoned
      And everything among its dead letters is received and completed
      Then exactly 1 message was received
      And a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-07
    Scenario Outline: A peek shows dead letters and takes none
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When messages among its dead letters are peeked
      And everything among its dead letters is received and completed
      Then at most 1 message is shown
      And exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-09
    Scenario Outline: A dead letter can be delivered any number of times
      Given a <kind> queue with 2 deliveries
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When one message among its dead letters is received and abandoned, 4 times
      And everything among its dead letters is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-08
    Scenario Outline: A new queue has a dead-letter queue, and nothing in it
      Given a <kind> queue
      Then a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-08
    Scenario Outline: A queue's dead letters are its own
      Given a <kind> queue
      And another <kind> queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When receivers turn to "invoices"
      Then a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-10
    Scenario Outline: A dead letter is not dead-lettered again
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When a message among its dead letters is received and kept
      And the message kept among its dead letters is dead-lettered
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-11
    Scenario Outline: Nothing is sent to a dead-letter queue
      Given a <kind> queue
      When a message with PartitionKey "a" is sent to its dead letters
      Then it is refused
      And a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-11
    Scenario: Nor in a transaction
      Given a partitioned queue
      And a transaction
      When a message with PartitionKey "a" is sent to its dead letters in the transaction
      Then it is refused

  Rule: Dead letters of a subscription are received, settled and peeked at as those of a queue

    @DLQ-07 @LOCK-04
    Scenario Outline: The lock of a subscription's dead letter is renewed
      Given a <kind> topic
      And subscription "one" with locks of 20 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and dead-lettered because of "unreadable"
      And receivers turn to its dead letters
      And a message is received and kept
      And only 12 of 20 seconds pass
      And the lock of the message kept is renewed, which succeeds
      And only 12 of 20 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-07 @DEFER-02
    Scenario Outline: A subscription's dead letter is deferred and received by its number
      Given a <kind> topic
      And subscription "one" with locks of 20 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and dead-lettered because of "unreadable"
      And receivers turn to its dead letters
      And a message is received and deferred
      Then a receive finds nothing
      When it is tried by its number
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-07
    Scenario Outline: A subscription's dead letter comes again with its count, however its delivery ended
      Given a <kind> topic
      And subscription "one" with locks of 20 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and dead-lettered because of "unreadable"
      And receivers turn to its dead letters
      And a message is received 3 times, <how> each time
      Then each time its delivery count is <count>

      Examples:
        | kind        | how                 | count          |
        | partitioned | abandoned           | greater by one |
        | partitioned | kept for 20 seconds | greater by one |
        | partitioned | deferred            | the same       |
        | regular     | abandoned           | greater by one |
        | regular     | kept for 20 seconds | greater by one |
        | regular     | deferred            | the same       |

    @DLQ-07 @LIFE-02
    Scenario Outline: A subscription's dead letter that is locked is given to no other receiver
      Given a <kind> topic
      And subscription "one" with locks of 20 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and dead-lettered because of "unreadable"
      And receivers turn to its dead letters
      And a message is received and kept
      Then a receive over another connection finds nothing
      When the message kept is completed
      Then it is accepted
      And a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-11 @DLQ-07
    Scenario Outline: A subscription's dead letter is settled by a commit
      Given a <kind> topic
      And subscription "one"
      And a message with PartitionKey "a" was sent
      And a transaction
      When receivers turn to subscription "one"
      And a message is received and dead-lettered because of "unreadable"
      And receivers turn to its dead letters
      And a message is received and kept
      And the message kept is completed in the transaction
      And the transaction is committed
      And 60 seconds pass
      And a receive is tried
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-07 @BATCH-14
    Scenario Outline: Dead letters of a subscription that come at once have a lock each
      Given a <kind> topic
      And subscription "one"
      And 4 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And each message is received and dead-lettered
      And receivers turn to its dead letters
      And up to 4 messages are received at once and kept
      And each of them is completed
      Then all of them are accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-07 @PART-20
    Scenario Outline: Peeking on among a subscription's dead letters finds every one
      Given a <kind> topic
      And subscription "one"
      And 7 messages without key were sent
      When receivers turn to subscription "one"
      And each message is received and dead-lettered
      And receivers turn to its dead letters
      And they are peeked at, <count> at a time, each time from behind the last
      Then every message that was sent was shown

      Examples:
        | kind        | count |
        | partitioned | 1     |
        | partitioned | 3     |
        | regular     | 1     |
        | regular     | 3     |

    @DLQ-07 @PART-20
    Scenario Outline: Peeking on among a queue's dead letters finds every one
      Given a <kind> queue
      And 7 messages without key were sent
      When each message is received and dead-lettered
      And receivers turn to its dead letters
      And they are peeked at, <count> at a time, each time from behind the last
      Then every message that was sent was shown

      Examples:
        | kind        | count |
        | partitioned | 1     |
        | partitioned | 3     |
        | regular     | 1     |
        | regular     | 3     |

  Rule: Dead letters of a partitioned queue are wherever they are

    @DLQ-12
    Scenario: Dead letters come from every partition
      Given a partitioned queue
      And 48 messages without key were sent
      When each message is received and dead-lettered
      And everything among its dead letters is received and completed
      Then exactly 48 messages were received

    @DLQ-12
    Scenario: Dead letters outlast an outage
      Given a partitioned queue
      And 32 messages without key were sent
      When each message is received and dead-lettered
      And every partition is down for a while
      And everything among its dead letters is received and completed
      Then exactly 32 messages were received

    @DLQ-13
    Scenario: In an outage, dead letters are at worst received afterwards
      Given a partitioned queue
      And 32 messages without key were sent
      When each message is received and dead-lettered
      And 8 partitions go down
      And a receive among its dead letters is tried
      And every partition is up again
      And everything among its dead letters is received and completed
      Then exactly 32 messages were received by then
