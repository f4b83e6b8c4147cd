Feature: Batches
  A batch is several messages in one request: the bus accepts all of them or none. Messages that are
  received together are locked one by one. Messages with the same key go to the partition that the
  key selects, and keep their order.

  Rule: A batch that is accepted arrives whole

    @BATCH-01
    Scenario Outline: All messages of a batch are received
      Given a <kind> queue
      When <number> messages <carried> are sent at once
      Then it is accepted
      When everything is received and completed
      Then exactly <number> messages were received

      Examples:
        | kind        | number | carried               |
        | partitioned | 5      | with PartitionKey "a" |
        | partitioned | 5      | without key           |
        | partitioned | 50     | with PartitionKey "a" |
        | regular     | 5      | with PartitionKey "a" |
        | regular     | 50     | without key           |

    @BATCH-01
    Scenario: A batch for a session is received in it
      Given a partitioned queue that requires sessions
      When 5 messages with SessionId "s" are sent at once
      Then it is accepted
      When session "s" is accepted
      And everything of session "s" is received and completed
      Then exactly 5 messages were received

    @FEAT-06
    Scenario Outline: A partitioned queue takes batches
      Given a partitioned queue
      When 3 messages <carried> are sent at once
      Then it is accepted
      When everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | carried               |
        | with PartitionKey "a" |
        | with SessionId "a"    |
        | without key           |

  Rule: Of a batch that is refused nothing arrives

    @BATCH-02
    Scenario: One message that must be refused keeps all others away
      Given a partitioned queue
      When a message with PartitionKey "a" and one with SessionId "a" and PartitionKey "b" are sent at once
      Then it is refused
      When everything is received and completed
      Then exactly 0 messages were received

    @BATCH-02
    Scenario Outline: One message with too long a key keeps all others away
      Given a <kind> queue
      When a message with PartitionKey "a" and one with PartitionKey "a" and MessageId of 129 characters are sent at once
      Then it is accepted or refused
      When everything is received and completed
      Then exactly 2 messages were received, or 0 if it was refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: The messages of a batch keep their order

    @BATCH-03 @KEY-17
    Scenario Outline: Messages of one key are received in the order of their batch
      Given a partitioned queue
      And 10 messages with <property> "a" were sent at once
      When everything is received and completed
      Then exactly 10 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | property     |
        | PartitionKey |
        | SessionId    |

    @BATCH-03
    Scenario Outline: Messages of one session are received in the order of their batch
      Given a <kind> queue that requires sessions
      And 10 messages with SessionId "s" were sent at once
      And 5 messages with SessionId "s" were sent at once
      When session "s" is accepted
      And everything of session "s" is received and completed
      Then exactly 15 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A batch goes where its key leads

    @BATCH-04
    Scenario: All messages of a batch are where their key leads
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And 6 messages with PartitionKey "a" were sent at once
      Then all that were sent are in one partition

    @BATCH-01 @BATCH-05
    Scenario: A batch with two keys is taken whole or not at all
      Given a partitioned queue
      When a message with PartitionKey "a" and one with PartitionKey "b" are sent at once
      Then it is accepted or refused
      When everything is received and completed
      Then exactly 2 messages were received, or 0 if it was refused

    @BATCH-01 @BATCH-05
    Scenario: A batch with a key and none is taken whole or not at all
      Given a partitioned queue
      When a message with PartitionKey "a" and one without key are sent at once
      Then it is accepted or refused
      When everything is received and completed
      Then exactly 2 messages were received, or 0 if it was refused

    @BATCH-06
    Scenario: A regular queue takes a batch with two keys
      Given a regular queue
      When a message with PartitionKey "a" and one with PartitionKey "b" are sent at once
      Then it is accepted
      When everything is received and completed
      Then exactly 2 messages were received

    @BATCH-11
    Scenario: A batch is refused while the partition of its key is down
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And the partition that took it is down
      When 3 messages with PartitionKey "a" are sent at once
      Then it is refused
      When the partition is up again
      And everything is received and completed
      Then exactly 1 message was received

  Rule: A batch is no larger than a message may be, and than there is room

    @BATCH-07
    Scenario Outline: A batch that is too large is refused whole
      Given a <kind> queue
      When 3 messages with PartitionKey "a" and a body of 100 KB are sent at once
      Then it is refused
      When everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-07
    Scenario Outline: A batch that is not too large is taken
      Given a <kind> queue
      When 3 messages with PartitionKey "a" and a body of 60 KB are sent at once
      Then it is accepted
      When everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-10
    Scenario: A batch for which a queue has no room is refused whole
      Given a regular queue
      And messages without key were sent until there was no room for more
      When 4 messages with PartitionKey "a" and a body of 30 MB are sent at once
      Then it is refused
      When everything is received and completed
      Then every message that was taken was received

    @BATCH-10 @SIZE-07
    Scenario: A batch for which a partition has no room is refused whole
      Given a partitioned queue
      And messages with PartitionKey "a" were sent until there was no room for their key
      When 4 messages with PartitionKey "a" and a body of 30 MB are sent at once
      Then it is refused
      When everything is received and completed
      Then every message that was taken was received

  Rule: A batch in a transaction is a part of it

    @BATCH-08
    Scenario Outline: A batch in a transaction arrives with its commit
      Given a <kind> queue
      And a transaction
      When 4 messages with PartitionKey "a" are sent at once in the transaction
      Then it is accepted
      And a receive finds nothing
      When the transaction is committed
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-08
    Scenario Outline: A batch in a transaction that is rolled back never arrives
      Given a <kind> queue
      And a transaction
      When 4 messages with PartitionKey "a" are sent at once in the transaction
      And the transaction is rolled back
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-04 @BATCH-08
    Scenario Outline: A batch with another key than its transaction is refused
      Given a partitioned queue <traits>
      And a transaction
      And <number> messages with <property> "a" were sent in the transaction
      When 2 messages with <property> "b" are sent at once in the transaction
      Then it is refused as an invalid operation
      When the transaction is rolled back, if it can be
      And 60 seconds pass
      And everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | traits                   | property     | number |
        | without sessions         | PartitionKey | 1      |
        | without sessions         | SessionId    | 1      |
        | without sessions         | PartitionKey | 3      |

    @TXN-08 @BATCH-08
    Scenario: A batch of another session than its transaction is refused
      Given a partitioned queue that requires sessions
      And a transaction
      And a message with SessionId "a" was sent in the transaction
      When 2 messages with SessionId "b" are sent at once in the transaction
      Then it is refused as an invalid operation

    @TXN-03 @BATCH-08
    Scenario Outline: A batch without key is refused in a transaction
      Given a partitioned queue
      And a transaction
      When <number> messages without key are sent at once in the transaction
      Then it is refused as an invalid operation
      When the transaction is rolled back, if it can be
      And a receive is tried
      Then exactly 0 messages were received

      Examples:
        | number |
        | 1      |
        | 2      |

    @TXN-07 @BATCH-08
    Scenario: A batch whose keys differ is refused in a transaction
      Given a partitioned queue that requires sessions
      And a transaction
      When 2 messages with SessionId "a" and PartitionKey "b" are sent at once in the transaction
      Then it is refused as an invalid operation

  Rule: A copy in a batch is dropped alone

    @BATCH-09
    Scenario Outline: A copy of an earlier message is dropped, the others of its batch are not
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" and PartitionKey "a" was sent
      When a message with MessageId "x" and PartitionKey "a" and one with MessageId "y" and PartitionKey "a" are sent at once
      Then it is accepted
      When everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-09
    Scenario Outline: A message that stands twice in a batch arrives once
      Given a <kind> queue with duplicate detection
      When 3 messages with MessageId "x" and PartitionKey "a" are sent at once
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A receive of several gives some of what is there

    @BATCH-12
    Scenario Outline: No more come than were asked for
      Given a <kind> queue
      And 6 messages <carried> were sent
      When up to 4 messages are received at once and kept
      Then at most 4 messages are kept

      Examples:
        | kind        | carried               |
        | partitioned | with PartitionKey "a" |
        | partitioned | without key           |
        | regular     | without key           |

    @BATCH-12
    Scenario Outline: All that is there comes in the end, each message once
      Given a <kind> queue
      And 10 messages with PartitionKey "a" were sent
      When up to 4 messages are received at once and completed, to the end
      Then exactly 10 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-12
    Scenario Outline: Nothing comes where there is nothing
      Given a <kind> queue
      Then a receive of several finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FEAT-07
    Scenario Outline: Several messages are received at once from a partitioned queue
      Given a partitioned queue
      And 8 messages <carried> were sent
      When up to 4 messages are received at once and completed, to the end
      Then exactly 8 messages were received

      Examples:
        | carried               |
        | with PartitionKey "a" |
        | without key           |

    @BATCH-13 @KEY-17
    Scenario: What comes together of one key is in order
      Given a partitioned queue
      And 6 messages with PartitionKey "a" were sent
      When up to 4 messages are received at once and completed, to the end
      Then exactly 6 messages were received
      And the messages came in the order in which they were sent

    @BATCH-13
    Scenario Outline: What comes together of one session is in order
      Given a <kind> queue that requires sessions
      And 6 messages with SessionId "s" were sent
      When session "s" is accepted
      And up to 4 messages of session "s" are received at once and completed, to the end
      Then exactly 6 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-14
    Scenario Outline: Each message that comes together can be completed by itself
      Given a <kind> queue
      And 4 messages with PartitionKey "a" were sent
      When up to 4 messages are received at once and kept
      Then a receive of several over another connection gives none of them
      When each of them is completed
      Then all of them are accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-14
    Scenario Outline: What is not settled comes again
      Given a <kind> queue with locks of 30 seconds
      And 4 messages with PartitionKey "a" were sent
      When up to 4 messages are received at once and kept
      And the first of them is completed
      And 31 seconds pass
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-12 @LIFE-03
    Scenario Outline: Messages that are received at once and deleted are gone
      Given a <kind> queue
      And 6 messages <carried> were sent
      When up to 4 messages are received at once and deleted, to the end
      Then exactly 6 messages were received
      When 60 seconds pass
      Then a receive finds nothing
      And in the end it is described with 0 messages

      Examples:
        | kind        | carried               |
        | partitioned | with PartitionKey "a" |
        | partitioned | without key           |
        | regular     | without key           |

    @BATCH-12 @LIFE-03 @SESS-05
    Scenario Outline: Messages of a session that are received at once and deleted are gone
      Given a <kind> queue that requires sessions
      And 6 messages with SessionId "s" were sent
      When session "s" is accepted
      And up to 4 messages of session "s" are received at once and deleted, to the end
      Then exactly 6 messages were received
      When session "s" is closed
      And session "s" is accepted
      And everything of session "s" is received and completed
      Then exactly 6 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-12 @LIFE-03 @TOPIC-02
    Scenario Outline: Messages of a subscription that are received at once and deleted are gone from it alone
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And 3 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And up to 2 messages are received at once and deleted, to the end
      Then exactly 3 messages were received
      When 60 seconds pass
      Then a receive finds nothing
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-12 @LIFE-03 @DLQ-07
    Scenario Outline: Dead letters that are received at once and deleted are gone
      Given a <kind> queue
      And 3 messages with PartitionKey "a" were sent
      When each message is received and dead-lettered
      And receivers turn to its dead letters
      And up to 2 messages are received at once and deleted, to the end
      Then exactly 3 messages were received
      When 60 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-14 @DLQ-01
    Scenario Outline: The deliveries of messages that come at once are counted
      Given a <kind> queue with locks of 10 seconds
      And 3 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And <ended>
      And up to 1 messages are received at once and kept
      Then each of them is delivery 2

      Examples:
        | kind        | ended                                  |
        | partitioned | all of them are abandoned in one request |
        | partitioned | 10 seconds pass                        |
        | regular     | all of them are abandoned in one request |
        | regular     | 10 seconds pass                        |

  Rule: Several messages are deleted in one request

    @BATCH-15 @BATCH-18
    Scenario Outline: No more are deleted than were asked for
      Given a regular queue
      And 6 messages without key were sent
      When up to <number> messages are deleted at once
      And everything is received and completed
      Then at most <number> messages were deleted, and all others were received

      Examples:
        | number |
        | 2      |
        | 6      |
        | 9      |

    @BATCH-15
    Scenario: What is deferred may be deleted with others
      Given a regular queue
      And a message without key was sent
      When a message is received and deferred
      And up to 9 messages are deleted at once
      Then at most 1 message was deleted

    @BATCH-16
    Scenario: What is locked is not deleted
      Given a regular queue
      And 3 messages without key were sent
      When each of them is received and kept
      And up to 9 messages are deleted at once
      Then at most 0 messages were deleted
      When each of them is completed
      Then all of them are accepted

    @BATCH-17
    Scenario: What was enqueued later is not deleted
      Given a regular queue
      And 2 messages without key were sent
      When 30 seconds pass
      And a message without key is sent
      And up to 9 messages from before the last 20 seconds are deleted at once
      And everything is received and completed
      Then at most 2 messages were deleted, and all others were received

    @BATCH-19
    Scenario: Of a partitioned queue several may not be deleted at once
      Given a partitioned queue
      And 6 messages without key were sent
      When up to 4 messages are deleted at once, if they can be
      And everything is received and completed
      Then at most 4 messages were deleted, and all others were received

    @BATCH-20
    Scenario Outline: Too many may not be deleted at once
      Given a regular queue
      And 2 messages without key were sent
      When up to <number> messages are deleted at once, if they can be
      And everything is received and completed
      Then at most 2 messages were deleted, and all others were received

      Examples:
        | number |
        | 501    |
        | 4001   |
