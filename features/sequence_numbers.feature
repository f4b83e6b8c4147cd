Feature: Sequence numbers
  Each partition assigns sequence numbers of its own; an entity that is not partitioned has a single
  series of them. Which partition a number names is tested in messages.feature.

  Rule: The numbers of a partition rise as its messages arrive

    @SEQ-01
    Scenario Outline: The later of two messages of one key has the higher number
      Given a partitioned queue
      And messages with <property> "a", "b" and "c" were sent in turn, 8 of each
      When everything is received and completed
      Then exactly 24 messages were received
      And the sequence numbers of each key rise in the order of sending

      Examples:
        | property     |
        | PartitionKey |
        | SessionId    |

    @SEQ-01
    Scenario: A peek shows the same numbers
      Given a partitioned queue
      And 8 messages with PartitionKey "a" were sent
      When messages are peeked
      Then the sequence numbers shown of each key rise in the order of sending

    @SEQ-01
    Scenario: They rise on after an outage of their partition
      Given a partitioned queue
      And 8 messages with PartitionKey "a" were sent
      When every partition is down for a while
      And 8 messages with PartitionKey "a" are sent
      And everything is received and completed
      Then exactly 16 messages were received
      And the sequence numbers of each key rise in the order of sending

    # Of 17 keys at least two share one of 16 partitions, and its numbers.
    @SEQ-06
    Scenario: Numbers of one key may leave gaps
      Given a partitioned queue
      And messages with 17 PartitionKeys were sent in turn, 2 of each
      When everything is received and completed
      Then exactly 34 messages were received
      And the sequence numbers of each key rise in the order of sending

    @SEQ-05
    Scenario: An entity that is not partitioned numbers all that it takes in one row
      Given a regular queue
      And 16 messages without key were sent
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 4 of each
      When everything is received and completed
      Then exactly 28 messages were received
      And the sequence numbers of all messages rise in the order of sending

    @SEQ-05
    Scenario: So it does with those of a session
      Given a regular queue that requires sessions
      And 8 messages with SessionId "a" were sent
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 8 messages were received
      And the sequence numbers of all messages rise in the order of sending

  Rule: A number names one message

    @SEQ-03
    Scenario Outline: No number is given out twice, not even when its message is gone
      Given a <kind> queue
      And 32 messages without key were sent
      And everything was received and completed
      When 32 messages without key are sent
      And everything is received and completed
      Then exactly 64 messages were received
      And the sequence numbers of all messages differ

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SEQ-04
    Scenario Outline: A message has the same number in every sighting
      Given a <kind> queue
      And 4 messages with PartitionKey "a" were sent
      When messages are peeked
      And one message is received and abandoned
      And a message is received and kept
      And the message kept is abandoned
      And everything is received and completed
      Then exactly 4 messages were received
      And each message received has the same sequence number as when it was peeked
      And each message received has the same sequence number as when it was kept

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Partitions number their messages apart

    @SEQ-02
    Scenario: Numbers of different partitions have no order
      Given a partitioned queue
      And 40 messages without key were sent
      When everything is received and completed
      Then exactly 40 messages were received
      And the sequence numbers of all messages differ

  Rule: A commit numbers its messages in the order in which they were sent

    @SEQ-07
    Scenario Outline: The later of two messages of a transaction has the higher number
      Given a <kind> queue
      And a transaction
      And 6 messages with <property> "a" were sent in the transaction
      When the transaction is committed
      And everything is received and completed
      Then exactly 6 messages were received
      And the sequence numbers of each key rise in the order of sending

      Examples:
        | kind        | property     |
        | partitioned | PartitionKey |
        | partitioned | SessionId    |
        | regular     | PartitionKey |

    @SEQ-07
    Scenario: So they do with other messages in between, and after a transaction was rolled back
      Given a partitioned queue
      And a transaction
      And 2 messages with PartitionKey "a" were sent in the transaction
      When the transaction is rolled back
      And another transaction is begun
      And 3 messages with PartitionKey "b" are sent in the transaction
      And a message with PartitionKey "c" is sent
      And 3 messages with PartitionKey "b" are sent in the transaction
      And the transaction is committed
      And everything is received and completed
      Then exactly 7 messages were received
      And the sequence numbers of each key rise in the order of sending

  Rule: Subscriptions and dead-letter queues number their messages as queues do

    @SEQ-03 @TOPIC-20
    Scenario Outline: No number is given out twice in a subscription
      Given a <kind> topic
      And subscription "one"
      And 20 messages without key were sent
      When receivers turn to subscription "one"
      And everything is received and completed
      And senders turn to the topic
      And 20 messages without key are sent
      And receivers turn to subscription "one" and remember what came
      And everything is received and completed
      Then exactly 40 messages were received
      And the sequence numbers of all messages differ

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SEQ-03 @DLQ-07
    Scenario Outline: No two dead letters have one number
      Given a <kind> queue
      And 20 messages without key were sent
      When each message is received and dead-lettered
      And everything among its dead letters is received and completed
      Then exactly 20 messages were received
      And the sequence numbers of all messages differ

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SEQ-01 @TOPIC-20
    Scenario: The numbers of a subscription rise in each partition
      Given a partitioned topic
      And subscription "one"
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 4 of each
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 12 messages were received
      And the sequence numbers of each key rise in the order of sending

    @SEQ-05 @TOPIC-20
    Scenario: A regular topic's subscription numbers its messages in one row
      Given a regular topic
      And subscription "one"
      And 8 messages without key were sent
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 8 messages were received
      And the sequence numbers of all messages rise in the order of sending
