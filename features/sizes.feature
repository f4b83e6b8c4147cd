Feature: Entity sizes
  How large queues and their partitions can be, and what happens to messages for which there is no
  room. A full entity is not unavailable: its messages can be received, and sends fail because a
  quota is exceeded.

  Rule: A queue has the size that it is given

    @SIZE-01 @SIZE-04
    Scenario Outline: A partitioned queue is as large as all its partitions
      Given a partitioned queue of <size> GB
      Then it is described with <size> GB for each partition

      Examples:
        | size |
        | 1    |
        | 2    |
        | 3    |
        | 4    |
        | 5    |

    @SIZE-01 @SIZE-06
    Scenario Outline: A regular queue is as large as it is created
      Given a regular queue of <size> GB
      Then it is described with <size> GB

      Examples:
        | size |
        | 1    |
        | 2    |
        | 3    |
        | 4    |
        | 5    |

    @SIZE-02
    Scenario Outline: There are no other sizes
      Given an empty namespace
      When a <kind> queue of <size> GB is requested
      Then it is refused, or the <kind> queue has a size of the tier

      Examples:
        | kind        | size |
        | partitioned | 6    |
        | partitioned | 80   |
        | regular     | 6    |
        | regular     | 80   |

    @SIZE-03 @SIZE-04
    Scenario: A partitioned queue without a size has 1 GB for each partition
      Given a partitioned queue
      Then it is described with 1 GB for each partition

    @SIZE-03
    Scenario: A regular queue without a size has 1 GB
      Given a regular queue
      Then it is described with 1 GB

    @SIZE-16
    Scenario Outline: The size of a partitioned queue changes
      Given a partitioned queue of 1 GB
      When it is updated to have <size> GB
      Then it is accepted
      And it is described with <size> GB, or that of all partitions

      Examples:
        | size |
        | 2    |
        | 5    |

    @SIZE-16
    Scenario Outline: The size of a regular queue changes
      Given a regular queue of 2 GB
      When it is updated to have <size> GB
      Then it is accepted
      And it is described with <size> GB

      Examples:
        | size |
        | 3    |
        | 5    |

    @SIZE-16
    Scenario: The size of a topic changes
      Given a regular topic of 1 GB
      When the topic is updated to have 2 GB
      Then it is accepted
      And the topic is described with 2 GB

    @SIZE-17
    Scenario Outline: A size that cannot be changed stays
      Given a regular queue of 2 GB
      When it is updated to have <size> GB
      Then it is refused
      And it is described with 2 GB

      Examples:
        | size |
        | 1    |
        | 3    |

    @SIZE-05
    Scenario Outline: There are as many partitions whatever the size
      Given a partitioned queue of <size> GB
      When 400 messages without key are sent
      Then every partition took some of them

      Examples:
        | size |
        | 1    |
        | 5    |

  Rule: A partition is full by itself

    @SIZE-07
    Scenario: Messages of one key fill the partition of their key
      Given a partitioned queue
      When messages with PartitionKey "a" are sent until there is no room for their key
      Then it is refused because the quota is exceeded

    @SIZE-07
    Scenario: Messages of one session fill one partition
      Given a partitioned queue that requires sessions
      When messages with SessionId "a" are sent until there is no room for their key
      Then it is refused because the quota is exceeded

    @SIZE-07 @SIZE-04
    Scenario: A partition holds as much as the size given
      Given a partitioned queue of 2 GB
      When messages with PartitionKey "a" are sent until there is no room for their key
      Then it is refused because the quota is exceeded

    @SIZE-08
    Scenario: A key of another partition has room
      Given a partitioned queue
      And a key "b" in another partition than "a"
      And messages with PartitionKey "a" were sent until there was no room for their key
      When a large message with PartitionKey "b" is sent
      Then it is accepted

    @SIZE-09
    Scenario: Messages without key may go round a full partition
      Given a partitioned queue
      And messages with PartitionKey "a" were sent until there was no room for their key
      When 32 large messages without key are sent
      Then all of them are accepted, or refused because the quota is exceeded

    @SIZE-14
    Scenario: A full partition takes nothing of a transaction
      Given a partitioned queue
      And messages with PartitionKey "a" were sent until there was no room for their key
      And a transaction
      When a large message with PartitionKey "a" is sent in the transaction
      Then it is refused because the quota is exceeded, or the transaction's commit is refused for the same reason
      When everything is received and completed
      Then every message that was taken was received

    @SIZE-14
    Scenario: A transaction that does not fit leaves nothing behind
      Given a partitioned queue
      And a transaction
      When messages with PartitionKey "a" are sent in the transaction until there is no room for their key
      Then it is refused because the quota is exceeded, or the transaction's commit is refused for the same reason
      When the transaction is rolled back, if it can be
      And everything is received and completed
      Then exactly 0 messages were received

    @SIZE-04
    Scenario Outline: Messages without key fill one partition after the other, and nothing is lost
      Given a partitioned queue
      When messages without key are sent that fill <parts> partitions, and <more> more
      Then all of them are accepted, or refused because the quota is exceeded
      When everything is received and completed
      Then as many messages were received as were accepted

      Examples:
        | parts | more |
        | 1     | -1   |
        | 1     | 0    |
        | 1     | 1    |
        | 15    | -1   |
        | 15    | 1    |
        | 16    | 0    |

  Rule: An entity is full when it holds its greatest size

    @SIZE-10
    Scenario: A full queue refuses what is sent
      Given a regular queue of 1 GB
      When messages are sent until there is no room for more
      Then it is refused because the quota is exceeded

    @SIZE-10
    Scenario: Nothing is kept of what a full queue refused
      Given a regular queue of 1 GB
      And messages without key were sent until there was no room for more
      When a large message without key is sent
      Then it is refused because the quota is exceeded
      When everything is received and completed
      Then every message that was taken was received

    @SIZE-07 @SIZE-10
    Scenario: A partitioned queue is full when none of its partitions has room
      Given a partitioned queue
      When messages without key are sent until no partition has room
      Then it is refused because the quota is exceeded

    @SIZE-13
    Scenario Outline: Whatever lies in a queue takes its room
      Given a regular queue
      When messages are <fate> until there is no room for more
      Then it is refused because the quota is exceeded

      Examples:
        | fate          |
        | locked        |
        | abandoned     |
        | deferred      |
        | dead-lettered |
        | scheduled     |

  Rule: Full is not down

    @SIZE-11
    Scenario: A full queue gives what it holds
      Given a regular queue of 1 GB
      And messages without key were sent until there was no room for more
      When everything is received and completed
      Then every message that was taken was received

    @SIZE-11 @SIZE-07
    Scenario: A full partition gives what it holds
      Given a partitioned queue
      And messages with PartitionKey "a" were sent until there was no room for their key
      When everything is received and completed
      Then every message that was taken was received

    @SIZE-11
    Scenario: A full queue is available
      Given a regular queue
      And messages without key were sent until there was no room for more
      Then in the end it is described as available

    @SIZE-12
    Scenario: A queue that was emptied has room again
      Given a regular queue
      And messages without key were sent until there was no room for more
      When everything is received and completed
      Then in the end a large message without key has room

    @SIZE-12
    Scenario: A queue has room again for what was received and deleted
      Given a regular queue
      And messages without key were sent until there was no room for more
      When 3 messages are received and deleted
      Then in the end a large message without key has room

    @SIZE-12 @SIZE-07
    Scenario: A partition that was emptied has room again
      Given a partitioned queue
      And messages with PartitionKey "a" were sent until there was no room for their key
      When everything is received and completed
      Then in the end a large message with PartitionKey "a" has room

    @SIZE-12
    Scenario Outline: What leaves a full queue gives room, however it leaves
      Given a <kind> queue
      And messages <carried> were sent until there was no room for <what>
      When <first>
      And <then>
      Then in the end a large message <carried> has room

      Examples:
        | kind        | carried               | what      | first                                                         | then                                                        |
        | regular     | without key           | more      | each message is received and deferred                         | each of them is received by its number and completed        |
        | regular     | without key           | more      | each message is received and dead-lettered                    | everything among its dead letters is received and completed |
        | partitioned | with PartitionKey "a" | their key | each message is received and deferred                         | each of them is received by its number and completed        |
        | partitioned | with PartitionKey "a" | their key | each message is received and dead-lettered                    | everything among its dead letters is received and completed |
        | partitioned | with PartitionKey "a" | their key | 2 messages are received and deleted                           | a message is received and deleted                           |
        | regular     | without key           | more      | up to 3 messages are received at once and deleted, to the end | a receive is tried                                          |

    @SIZE-12
    Scenario Outline: A message that a transaction completes gives room with the commit
      Given a <kind> queue
      And messages <carried> were sent until there was no room for <what>
      And a transaction
      When 3 messages are received and completed in the transaction
      And the transaction is committed
      Then in the end a large message <carried> has room

      Examples:
        | kind        | carried               | what      |
        | regular     | without key           | more      |
        | partitioned | with PartitionKey "a" | their key |

    @SIZE-12
    Scenario Outline: A message that expires and is dropped gives room
      Given a <kind> queue of 1 GB and with a time to live of 60 seconds
      And messages <carried> were sent until there was no room for <what>
      When 60 seconds pass
      And a receive is tried
      Then in the end a large message <carried> has room

      Examples:
        | kind        | carried               | what      |
        | regular     | without key           | more      |
        | partitioned | with PartitionKey "a" | their key |

    @SIZE-12
    Scenario Outline: A message that expires gives room once its dead letter is gone
      Given a <kind> queue of 1 GB and with a time to live of 60 seconds and that dead-letters expired messages
      And messages <carried> were sent until there was no room for <what>
      When 60 seconds pass
      And 10 messages among its dead letters are awaited
      Then in the end a large message <carried> has room

      Examples:
        | kind        | carried               | what      |
        | regular     | without key           | more      |
        | partitioned | with PartitionKey "a" | their key |

    @SIZE-12
    Scenario: Scheduled messages that are cancelled give room
      Given a regular queue of 1 GB
      And 11 large messages were scheduled for tomorrow
      When each of them is cancelled
      Then in the end a large message without key has room

  Rule: What is refused takes no room, and does not count

    @SIZE-07 @MGMT-20
    Scenario Outline: Messages that were refused take no room in their partition
      Given a partitioned queue of 1 GB
      When <refused>
      Then 8 large messages with PartitionKey "a" have room
      And in the end it is described with 8 messages
      When everything is received and completed
      Then exactly 8 messages were received

      Examples:
        | refused                                                                        |
        | 12 large messages with PartitionKey "a" and SessionId "s" are refused          |
        | 12 large messages with PartitionKey "a" and SessionId "s" are refused at once  |
        | 12 large messages with PartitionKey "a" and SessionId "s" are refused as scheduled |

    @SIZE-07 @MGMT-20
    Scenario Outline: What a transaction refused takes no room in its partition
      Given a partitioned queue of 1 GB
      And a transaction
      When <refused> in the transaction
      And the transaction is rolled back, if it can be
      Then 8 large messages with PartitionKey "a" have room
      And in the end it is described with 8 messages

      Examples:
        | refused                                                                       |
        | 12 large messages with PartitionKey "a" and SessionId "s" are refused         |
        | 12 large messages with PartitionKey "a" and SessionId "s" are refused at once |

    @SIZE-07
    Scenario: What a transaction that was rolled back sent takes no room in its partition
      Given a partitioned queue of 1 GB
      And a transaction
      When 8 large messages with PartitionKey "a" are sent in the transaction
      And the transaction is rolled back
      Then in the end 8 large messages with PartitionKey "a" have room

    @SIZE-10
    Scenario: What a transaction that was rolled back sent takes no room in a queue
      Given a regular queue of 1 GB
      And a transaction
      When 8 large messages without key are sent in the transaction
      And the transaction is rolled back
      Then in the end 8 large messages without key have room

    @SIZE-07 @SIZE-10 @MGMT-20
    Scenario Outline: What a disabled queue that requires sessions refuses takes no room in it
      Given a <kind> queue of 1 GB and that requires sessions
      When the queue is disabled for senders
      And 12 large messages with SessionId "a" are refused
      And the queue is active again
      Then 8 large messages with SessionId "a" have room
      And in the end it is described with 8 messages

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SIZE-07 @MGMT-20
    Scenario: What a disabled queue refuses takes no room in it
      Given a partitioned queue of 1 GB
      When the queue is disabled for senders
      And 12 large messages with PartitionKey "a" are refused
      And the queue is active again
      Then 8 large messages with PartitionKey "a" have room
      And in the end it is described with 8 messages

    @SIZE-07 @MGMT-20
    Scenario: What is refused in an outage takes no room after it
      Given a partitioned queue of 1 GB
      When every partition goes down
      And 12 large messages with PartitionKey "a" are refused
      And every partition is up again
      Then 8 large messages with PartitionKey "a" have room
      And in the end it is described with 8 messages

    @SIZE-07 @DLQ-07
    Scenario: What a dead-letter queue refuses takes no room in its queue
      Given a partitioned queue of 1 GB
      When 12 large messages with PartitionKey "a" are refused by its dead-letter queue
      Then 8 large messages with PartitionKey "a" have room

    @SIZE-07 @TOPIC-01
    Scenario Outline: What a topic refuses takes no room in it
      Given a partitioned topic of 1 GB
      And subscription "one"
      When <refused>
      Then 4 large messages with PartitionKey "a" have room
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | refused                                                                       |
        | 12 large messages with PartitionKey "a" and SessionId "s" are refused         |
        | 12 large messages with PartitionKey "a" and SessionId "s" are refused at once |
