Feature: Topics and subscriptions
  A message that is sent to a topic is received from each of its subscriptions, once. A partitioned
  topic has partitions as a queue has, and its subscriptions have the same ones.

  Rule: Each subscription gets a copy of its own

    @TOPIC-01
    Scenario Outline: Every subscription gives what was sent to its topic
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      When a message with <properties> is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <properties>
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received
      And it has <properties>

      Examples:
        | kind        | properties                                           |
        | partitioned | MessageId "x"                                        |
        | regular     | MessageId "x"                                        |
        | partitioned | SessionId "a" and PartitionKey "a" and MessageId "x" |
        | regular     | SessionId "a" and PartitionKey "a" and MessageId "x" |

    @TOPIC-01
    Scenario Outline: The last of many subscriptions gets its copies as the first
      Given a <kind> topic
      And subscriptions "s1" to "s60"
      When 2 messages with PartitionKey "a" are sent
      And receivers turn to subscription "<name>"
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        | name |
        | partitioned | s1   |
        | partitioned | s30  |
        | partitioned | s60  |
        | regular     | s60  |

    @TOPIC-01
    Scenario: None of many messages is missing in the last of several subscriptions
      Given a partitioned topic
      And subscriptions "s1" to "s5"
      When 64 messages without key are sent
      And receivers turn to subscription "s5"
      And everything is received and completed
      Then exactly 64 messages were received

    @TOPIC-02
    Scenario Outline: What was completed in one subscription is still there in another
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And 5 messages without key were sent
      When receivers turn to subscription "one"
      And everything is received and completed
      And receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 5 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-02
    Scenario: What is locked in one subscription is given by another, and stays locked in the first
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and kept
      And receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received
      When receivers turn to subscription "one"
      And the message kept is completed
      Then it is accepted

    @TOPIC-03
    Scenario Outline: A subscription does not give what was sent before it was created
      Given a <kind> topic
      And subscription "early"
      And 3 messages without key were sent
      And subscription "late"
      When receivers turn to subscription "late"
      Then a receive finds nothing
      When senders turn to the topic
      And a message without key is sent
      And receivers turn to subscription "late"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-02 @TOPIC-03
    Scenario Outline: A subscription gets what is due after it was created
      Given a <kind> topic
      And subscription "early"
      And 2 messages with PartitionKey "a" were scheduled in 20 seconds
      When subscription "late" is created
      And 20 seconds pass
      And receivers turn to subscription "late"
      And 2 messages are awaited
      Then exactly 2 messages were received
      When receivers turn to subscription "early"
      And 2 messages are awaited
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-04
    Scenario Outline: A message that nobody subscribes to is accepted
      Given a <kind> topic
      When a message with PartitionKey "a" is sent
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Messages are sent to topics and received from subscriptions, not the other way round

    @TOPIC-05
    Scenario Outline: A topic gives no message
      Given a <kind> topic
      And subscription "one"
      And a message without key was sent
      When a receive is tried
      Then exactly 0 messages were received
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-06
    Scenario Outline: A subscription is not sent to
      Given a <kind> topic
      And subscription "one"
      When receivers turn to subscription "one"
      And a message without key is sent
      Then it is refused
      And a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-19
    Scenario Outline: There is no subscription without a topic
      Given a <kind> topic
      When subscription "one" of topic "nowhere" is created
      Then it is refused because it is not found

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A subscription is received from, settled in and peeked at as a queue is

    @LOCK-04 @TOPIC-20
    Scenario Outline: A lock of a subscription's message is renewed
      Given a <kind> topic
      And subscription "one" with locks of 20 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
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

    @MGMT-12
    Scenario Outline: An update of a subscription's lock duration is in force for the next lock
      Given a <kind> topic
      And subscription "one" with locks of 60 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And one message is received and abandoned
      And it is updated to have locks of 20 seconds
      And a message is received and kept
      And 20 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-09
    Scenario Outline: A delivery that ended with the closing of a subscription's session does not count
      Given a <kind> topic
      And subscription "one" that requires sessions
      And a message with SessionId "a" was sent
      When receivers turn to subscription "one"
      And session "a" is accepted
      And a message of session "a" is received and kept
      And session "a" is closed
      And session "a" is accepted
      And a message of session "a" is received and kept
      Then it is delivery 1

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-10
    Scenario Outline: A delivery that ended with the lock of a subscription's session counts
      Given a <kind> topic
      And subscription "one" with locks of 5 seconds and that requires sessions
      And a message with SessionId "a" was sent
      When receivers turn to subscription "one"
      And session "a" is accepted
      And a message of session "a" is received and kept
      And 5 seconds pass
      And session "a" is accepted
      And a message of session "a" is received and kept
      Then it is delivery 2

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @PART-20
    Scenario Outline: Peeking on in a subscription finds every message
      Given a <kind> topic
      And subscription "one"
      And 12 messages without key were sent
      When receivers turn to subscription "one"
      And they are peeked at, <count> at a time, each time from behind the last
      Then every message that was sent was shown

      Examples:
        | kind        | count |
        | partitioned | 1     |
        | partitioned | 5     |
        | regular     | 1     |
        | regular     | 5     |

    @SESS-23
    Scenario Outline: A peek in a session of a subscription shows messages of that session only
      Given a <kind> topic
      And subscription "one" that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 3 of each
      When receivers turn to subscription "one"
      And session "b" is requested over another connection
      And messages of session "b" are peeked
      Then each message shown has SessionId "b"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-12 @FILTER-02
    Scenario Outline: What is committed reaches the subscriptions that take it, and no other
      Given a <kind> topic
      And subscription "one"
      And subscription "two" that takes nothing
      And a transaction
      And 2 messages with PartitionKey "a" were sent in the transaction
      When the transaction is committed
      And receivers turn to subscription "two"
      Then a receive finds nothing
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A partitioned topic has partitions as a queue has them

    @TOPIC-07
    Scenario Outline: A key selects one partition of a topic
      Given a partitioned topic <traits>
      And subscription "one"
      When 40 messages with <property> "a" and MessageId each its own are sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then all that were sent are in one partition

      Examples:
        | traits                   | property     |
        | without sessions         | SessionId    |
        | without sessions         | PartitionKey |
        | with duplicate detection | PartitionKey |
        | with duplicate detection | SessionId    |

    @TOPIC-07
    Scenario Outline: A key selects the same partition of a topic again after an outage
      Given a partitioned topic <traits>
      And subscription "one"
      When a message with <property> "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused
      When a message with <property> "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused, the same one as before

      Examples:
        | traits                   | property     |
        | without sessions         | SessionId    |
        | without sessions         | PartitionKey |
        | with duplicate detection | MessageId    |

    @KEY-14 @TOPIC-07
    Scenario Outline: Messages without key are spread over all partitions of a topic
      Given a partitioned topic
      And subscription "one"
      When <down> partitions go down
      And every partition is up again
      And 400 messages without key are sent
      And receivers turn to subscription "one"
      Then every partition took some of them

      Examples:
        | down |
        | 1    |
        | 8    |

    @KEY-08
    Scenario Outline: Keys that differ are refused by a partitioned topic, and reach no subscription
      Given a partitioned topic
      And subscription "one"
      When <asked>
      Then it is refused as an invalid operation
      When 5 seconds pass
      And receivers turn to subscription "one"
      Then a receive finds nothing

      Examples:
        | asked                                                               |
        | a message with SessionId "a" and PartitionKey "b" is sent           |
        | 2 messages with SessionId "a" and PartitionKey "b" are sent at once |

    @KEY-08
    Scenario: Keys that differ are refused by a partitioned topic in a transaction, or with its commit
      Given a partitioned topic
      And subscription "one"
      And a transaction
      When a message with SessionId "a" and PartitionKey "b" is sent in the transaction
      Then it is refused as an invalid operation, or the transaction's commit is refused
      When the transaction is committed, if it can be
      And 5 seconds pass
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @SCHED-12
    Scenario: Keys that differ are refused by a partitioned topic when scheduling too
      Given a partitioned topic
      And subscription "one"
      When a message with SessionId "a" and PartitionKey "b" is scheduled in 5 seconds
      Then it is refused as an invalid operation
      When 5 seconds pass
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @KEY-12
    Scenario: A MessageId does not pin in a topic that detects no duplicates
      Given a partitioned topic
      When a message with MessageId "x" is sent while each partition in turn is down
      Then exactly 0 of the requests are refused

    @TOPIC-10 @BATCH-11
    Scenario Outline: A batch whose partition is down is refused by a topic, and reaches no subscription
      Given a partitioned topic
      And subscription "one"
      And every partition is down
      When 3 messages with <key> are sent at once
      Then it is refused
      When every partition is up again
      And receivers turn to subscription "one"
      Then a receive finds nothing

      Examples:
        | key              |
        | PartitionKey "a" |
        | SessionId "a"    |

    @TOPIC-11
    Scenario: A batch without key goes round an outage of a topic
      Given a partitioned topic
      And subscription "one"
      And 8 partitions are down
      When 3 messages without key are sent at once
      Then it is accepted
      When every partition is up again
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 3 messages were received

    @TOPIC-08
    Scenario: A message is in one partition of each subscription
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And 32 messages without key were sent
      When receivers turn to subscription "one"
      And one message is received and abandoned
      And messages are peeked
      And everything is received and completed
      Then exactly 32 messages were received
      And the sequence numbers of all messages differ
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 32 messages were received
      And the sequence numbers of all messages differ

    @TOPIC-09
    Scenario Outline: A receiver gets a subscription's messages from every partition
      Given a partitioned topic
      And subscription "one"
      And 64 messages <properties> were sent
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 64 messages were received

      Examples:
        | properties                     |
        | without key                    |
        | with PartitionKey each its own |

    @TOPIC-10
    Scenario: A key whose partition is down is refused by a topic
      Given a partitioned topic
      And subscription "one"
      When a message with PartitionKey "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused

    @TOPIC-10
    Scenario: What a topic refused is in no subscription afterwards
      Given a partitioned topic
      And subscription "one"
      And every partition is down
      When a message with SessionId "a" is sent
      Then it is refused
      When every partition is up again
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @TOPIC-11
    Scenario Outline: Messages without key go round an outage of a topic
      Given a partitioned topic
      And subscription "one"
      And <down> partitions are down
      When 32 messages without key are sent
      And every partition is up again
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 32 messages were received

      Examples:
        | down |
        | 1    |
        | 8    |
        | 15   |

    @TOPIC-12
    Scenario Outline: A copy is dropped for all subscriptions
      Given a <kind> topic with duplicate detection
      And subscription "one"
      And subscription "two"
      And a message with MessageId "x" was sent
      When receivers turn to subscription "one"
      And everything is received and completed
      And senders turn to the topic
      And a message with MessageId "x" is sent
      And receivers turn to subscription "one"
      Then a receive finds nothing
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Sessions and locks are a subscription's own

    @TOPIC-13
    Scenario Outline: One subscription requires sessions and another does not
      Given a <kind> topic
      And subscription "sessions" that requires sessions
      And subscription "plain"
      And 4 messages with SessionId "a" were sent
      When receivers turn to subscription "plain"
      And everything is received and completed
      Then exactly 4 messages were received
      When receivers turn to subscription "sessions"
      And session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-13
    Scenario: A session of a subscription is received by its holder only
      Given a partitioned topic
      And subscription "sessions" that requires sessions
      And a message with SessionId "a" was sent
      When receivers turn to subscription "sessions"
      And session "a" is accepted
      And session "a" is received over another connection
      Then it is refused

    @TOPIC-14
    Scenario: The messages of a subscription's session come in the order in which they were sent
      Given a partitioned topic
      And subscription "sessions" that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 8 of each
      When receivers turn to subscription "sessions"
      And session "b" is accepted
      And everything of session "b" is received and completed
      Then exactly 8 messages were received
      And the messages came in the order in which they were sent

    @TOPIC-14
    Scenario: A subscription's session keeps its order when a message is abandoned
      Given a partitioned topic
      And subscription "sessions" that requires sessions
      And 6 messages with SessionId "a" were sent
      When receivers turn to subscription "sessions"
      And session "a" is accepted
      And one message of session "a" is received and abandoned
      And everything of session "a" is received and completed
      Then the messages came in the order in which they were sent

    @TOPIC-20
    Scenario Outline: What is locked in a subscription is given again only when its lock has ended
      Given a <kind> topic
      And subscription "one" with locks of 5 seconds
      And a message without key was sent
      When receivers turn to subscription "one"
      And a message is received and kept
      Then a receive finds nothing
      When 5 seconds pass
      And the message kept is completed
      Then it is refused
      When everything is received and completed
      Then exactly 1 message was received
      And a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A transaction reaches all subscriptions or none

    @TOPIC-15
    Scenario Outline: A transaction is in every subscription after its commit and in none before
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      When receivers turn to subscription "two"
      Then a receive finds nothing
      When the transaction is committed
      And everything is received and completed
      Then exactly 3 messages were received
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-15
    Scenario: A transaction that was rolled back is in no subscription
      Given a partitioned topic
      And subscription "one"
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      When the transaction is rolled back
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @TOPIC-16 @TXN-03
    Scenario: A message without key is refused by a partitioned topic in a transaction
      Given a partitioned topic
      And a transaction
      When a message without key is sent in the transaction
      Then it is refused as an invalid operation

    @TOPIC-16
    Scenario Outline: A second key is refused by a partitioned topic in a transaction
      Given a partitioned topic
      And a transaction
      And a message with <property> "a" was sent in the transaction
      When a message with <property> "b" is sent in the transaction
      Then it is refused as an invalid operation

      Examples:
        | property     |
        | SessionId    |
        | PartitionKey |

    @TOPIC-16
    Scenario Outline: A batch with no key or with another one is refused by a partitioned topic in a transaction
      Given a partitioned topic
      And subscription "one"
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When 2 messages <carried> are sent at once in the transaction
      Then it is refused as an invalid operation
      When the transaction is rolled back, if it can be
      And receivers turn to subscription "one"
      Then a receive finds nothing

      Examples:
        | carried               |
        | without key           |
        | with PartitionKey "b" |

    @LOCK-14 @LOCK-18 @TOPIC-20
    Scenario Outline: Messages of a subscription are renewed and settled in one request
      Given a <kind> topic
      And subscription "one" with locks of 20 seconds
      And subscription "two"
      And 3 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And each of them is received and kept
      And only 12 of 20 seconds pass
      And all of them are renewed in one request
      Then it is accepted
      When only 12 of 20 seconds pass
      And all of them are <settled> in one request
      Then it is accepted
      When 20 seconds pass
      And everything is received and completed
      Then exactly <left> messages were received
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        | settled       | left |
        | partitioned | completed     | 0    |
        | partitioned | abandoned     | 3    |
        | partitioned | deferred      | 0    |
        | partitioned | dead-lettered | 0    |
        | regular     | completed     | 0    |

    @BATCH-15 @BATCH-16 @TOPIC-02
    Scenario: Messages are deleted from one subscription, and what is locked there is not
      Given a regular topic
      And subscription "one"
      And subscription "two"
      And 4 messages without key were sent
      When receivers turn to subscription "one"
      And a message is received and kept
      And up to 9 messages are deleted at once
      And the message kept is completed
      Then it is accepted
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 4 messages were received

    @FILTER-03 @TOPIC-13
    Scenario Outline: A subscription that requires sessions takes what its rule takes, in each session
      Given a <kind> topic
      And subscription "one" that requires sessions
      When rule "reds" of subscription "one" is added: messages with Label "red"
      And rule "$Default" of subscription "one" is removed
      And 2 messages with SessionId "a" and Label "red" are sent
      And 2 messages with SessionId "a" and Label "blue" are sent
      And 2 messages with SessionId "b" and Label "blue" are sent
      And receivers turn to subscription "one"
      Then the sessions listed are "a"
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 2 messages were received
      And each of them has Label "red"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Names of subscriptions are short, whatever their case

    @TOPIC-17
    Scenario: 50 characters are not too many for the name of a subscription
      Given a topic
      When a subscription with a name of 50 characters is created
      Then it is accepted

    @TOPIC-18
    Scenario: 51 characters are too many for the name of a subscription
      Given a topic
      When a subscription with a name of 51 characters is created
      Then it is refused
      When a request to receive from the subscription with a name of 51 characters is made
      Then it is refused because it is not found

    @TOPIC-21
    Scenario: Two names that differ in their case are one
      Given a topic
      And subscription "one"
      When subscription "ONE" is created
      Then it is refused because it exists already
      When a message without key is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

    @TOPIC-21
    Scenario: A subscription may be found under a name in another case
      Given a topic
      And subscription "one"
      When a message without key is sent
      And receivers turn to subscription "ONE"
      And a receive is tried
      And receivers turn to subscription "one" and remember what came
      And everything is received and completed
      Then exactly 1 message was received
