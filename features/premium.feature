Feature: Premium tier
  A Premium namespace is partitioned as a whole or not at all. In one that is not, no partitioned
  entity can be created, but those from before continue to work. Its queues have sizes of their own,
  and neither sends nor transactions need a key. In a partitioned namespace, every entity is
  partitioned and has as many partitions as the namespace.

  Rule: In a partitioned namespace every entity is partitioned

    @PREM-14
    Scenario Outline: A queue of a partitioned namespace is partitioned
      Given a partitioned queue <traits>
      Then the queue is described as partitioned

      Examples:
        | traits                   |
        | without sessions         |
        | that requires sessions   |
        | with duplicate detection |

    @PREM-14
    Scenario: A topic of a partitioned namespace is partitioned
      Given a partitioned topic
      Then the topic is described as partitioned

    @PREM-14
    Scenario: A queue that is created without the option is not a regular one
      Given an empty namespace
      When a queue that leaves the option out is requested
      Then it is refused, or the queue is described as partitioned

    @PREM-15
    Scenario Outline: A request for a queue that is not partitioned is refused
      Given an empty namespace
      When a regular queue <traits> is requested
      Then it is refused as an invalid operation

      Examples:
        | traits                   |
        | without sessions         |
        | that requires sessions   |
        | with duplicate detection |

    @PREM-15
    Scenario: A request for a topic that is not partitioned is refused
      Given an empty namespace
      When a regular topic is requested
      Then it is refused as an invalid operation

    @PREM-15
    Scenario: A queue that was refused is not there, and one with partitions can be created
      Given an empty namespace
      When a regular queue is requested
      And a message without key is sent to "orders"
      Then it is refused because it is not found
      When a partitioned queue is requested
      Then it is accepted

    @PREM-16
    Scenario: The messages of a queue are in the partitions of its namespace, and in all of them
      Given a partitioned queue
      When 200 messages without key are sent
      Then every partition took some of them

    @PREM-16
    Scenario: The keys of a queue lead to the partitions of its namespace
      Given a partitioned queue
      When 40 messages with PartitionKey each its own are sent
      Then all that were sent are in partitions of the namespace

  Rule: In a partitioned namespace a batch has one key

    @PREM-17
    Scenario Outline: A batch with distinct keys is refused, and nothing of it arrives
      Given a partitioned queue
      When a message with <one> and one with <other> are sent at once
      Then it is refused as an invalid operation
      And a receive finds nothing

      Examples:
        | one              | other            |
        | PartitionKey "a" | PartitionKey "b" |
        | SessionId "a"    | SessionId "b"    |

    @PREM-17
    Scenario Outline: A batch with distinct keys is refused by a topic, and reaches no subscription
      Given a partitioned topic
      And subscription "one"
      When a message with <one> and one with <other> are sent at once
      Then it is refused as an invalid operation
      When receivers turn to subscription "one"
      Then a receive finds nothing

      Examples:
        | one              | other            |
        | PartitionKey "a" | PartitionKey "b" |
        | SessionId "a"    | SessionId "b"    |

    @PREM-17
    Scenario Outline: A batch with one key is accepted
      Given a partitioned queue
      And 3 messages with <key> were sent at once
      When everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | key              |
        | PartitionKey "a" |
        | SessionId "a"    |

  Rule: No queue is created partitioned where the namespace is not

    @PREM-01
    Scenario Outline: A request for a partitioned queue is refused, or gives another one
      Given an empty namespace
      When a partitioned queue <traits> is requested
      Then it is refused, or the queue is described as regular

      Examples:
        | traits                   |
        | without sessions         |
        | that requires sessions   |
        | with duplicate detection |
        | of 5 GB                  |

    @PREM-01
    Scenario: A request for a partitioned topic is refused, or gives another one
      Given an empty namespace
      When a partitioned topic is requested
      Then it is refused, or the topic is described as regular

    @PREM-06
    Scenario: A partitioned queue that was deleted does not come back partitioned
      Given an old partitioned queue
      When the queue is deleted
      And a partitioned queue is requested
      Then it is refused, or the queue is described as regular

  Rule: Partitioned queues from before go on working

    @PREM-03
    Scenario: What is sent to it is received
      Given an old partitioned queue
      And 32 messages without key were sent
      When everything is received and completed
      Then exactly 32 messages were received

    @PREM-03
    Scenario: A key still selects its partition
      Given an old partitioned queue
      When 8 messages with PartitionKey "a" are sent
      Then all that were sent are in one partition

    @PREM-03
    Scenario: A message of it is given back when it is abandoned
      Given an old partitioned queue
      And a message with PartitionKey "a" was sent
      When one message is received and abandoned
      And everything is received and completed
      Then exactly 1 message was received

    @PREM-03
    Scenario: A message of it can be peeked
      Given an old partitioned queue
      And a message with PartitionKey "a" was sent
      When messages are peeked
      And everything is received and completed
      Then exactly 1 message was received

    @PREM-03
    Scenario: Its sessions are received in order
      Given an old partitioned queue that requires sessions
      And 5 messages with SessionId "a" were sent
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 5 messages were received
      And the messages came in the order in which they were sent

    @PREM-03
    Scenario Outline: What holds for partitioned queues holds for it: batches, transactions and order
      Given an old partitioned queue
      And 5 messages with <key> were sent
      And 3 messages with <key> were sent at once
      When everything is received and completed
      Then exactly 8 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | key              |
        | PartitionKey "a" |
        | SessionId "a"    |

    @PREM-03
    Scenario: Messages of it are deferred, dead-lettered and counted
      Given an old partitioned queue
      And 3 messages with PartitionKey "a" were sent
      When a message is received and dead-lettered because of "unreadable"
      And a message is received and deferred
      And it is received by its number and kept
      And everything is received and completed
      And everything among its dead letters is received and completed
      Then exactly 2 messages were received

    @PREM-03
    Scenario: A message of it is locked, and comes again after its lock
      Given an old partitioned queue
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      Then a receive over another connection finds nothing
      When 60 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

    @PREM-03
    Scenario: What is scheduled on it comes, and what is cancelled does not
      Given an old partitioned queue
      And a message with PartitionKey "a" was scheduled in 5 seconds
      When the scheduled message is cancelled
      Then it is accepted
      When 5 seconds pass
      Then a receive finds nothing

    @PREM-03
    Scenario: A key whose partition is down is refused by it, and other keys are not
      Given an old partitioned queue
      And 40 messages with PartitionKey each its own were sent
      And the partition that took it is down
      Then only the keys of the partition that is down are refused

    @PREM-03
    Scenario: What it held before an outage is received after it
      Given an old partitioned queue
      And 20 messages with PartitionKey each its own were sent
      When every partition is down for a while
      And everything is received and completed
      Then exactly 20 messages were received

    @PREM-03
    Scenario: Keys that differ are refused by it
      Given an old partitioned queue
      When a message with SessionId "a" and PartitionKey "b" is sent
      Then it is refused as an invalid operation

    @PREM-03
    Scenario: Its sessions have a holder and a state
      Given an old partitioned queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And session "a" is given the state "half"
      And session "a" is requested over another connection
      Then it is refused
      And the state of session "a" is "half"

    @PREM-03
    Scenario Outline: A transaction of it needs one key
      Given an old partitioned queue
      And a transaction
      And a message with <key> was sent in the transaction
      When <second>
      Then it is refused as an invalid operation, or the transaction's commit is refused

      Examples:
        | key              | second                                                         |
        | PartitionKey "a" | a message without key is sent in the transaction               |
        | PartitionKey "a" | a message with PartitionKey "b" is sent in the transaction     |
        | SessionId "a"    | a message with SessionId "b" is sent in the transaction        |
        | PartitionKey "a" | 2 messages without key are sent at once in the transaction     |

    @PREM-03
    Scenario Outline: A transaction of it is received after its commit, and never after its rollback
      Given an old partitioned queue
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      Then a receive finds nothing
      When the transaction is <ended>
      And everything is received and completed
      Then exactly <number> messages were received

      Examples:
        | ended       | number |
        | committed   | 3      |
        | rolled back | 0      |

    @PREM-03
    Scenario: Its messages without key are spread over all partitions
      Given an old partitioned queue
      When 400 messages without key are sent
      Then every partition took some of them

    @PREM-03
    Scenario: Copies are dropped by it
      Given an old partitioned queue with duplicate detection
      And 3 messages with MessageId "x" were sent
      When everything is received and completed
      Then exactly 1 message was received

    @PREM-04
    Scenario: It is described as partitioned
      Given an old partitioned queue
      Then the queue is described as partitioned

    @PREM-04
    Scenario: It is described as partitioned after it was asked to change
      Given an old partitioned queue
      When it is updated to have locks of 5 seconds
      Then the queue is described as partitioned

    @PREM-04
    Scenario: It is listed
      Given an old partitioned queue
      And another regular queue
      Then the list of queues names orders and invoices

    @PREM-04
    Scenario: It can be deleted
      Given an old partitioned queue
      When the queue is deleted
      Then it is accepted

    @PREM-04
    Scenario: Once deleted it is gone
      Given an old partitioned queue
      And the queue was deleted
      When a message without key is sent
      Then it is refused because it is not found

    @PREM-05
    Scenario: It may refuse to be changed
      Given an old partitioned queue
      When it is updated to have locks of 5 seconds
      Then it is accepted or refused

  Rule: Premium has sizes of its own

    @PREM-07 @PREM-10
    Scenario Outline: A queue is as large as it is created, and not many times as large
      Given a regular queue of <size> GB
      Then it is described with <size> GB

      Examples:
        | size |
        | 1    |
        | 2    |
        | 3    |
        | 4    |
        | 5    |
        | 10   |
        | 20   |
        | 40   |
        | 80   |

    @PREM-08
    Scenario Outline: Premium has no other sizes
      Given an empty namespace
      When a regular queue of <size> GB is requested
      Then it is refused, or the regular queue has a size of the tier

      Examples:
        | size |
        | 6    |
        | 16   |
        | 81   |
        | 160  |

    @PREM-09
    Scenario: A queue without a size has 1 GB
      Given a regular queue
      Then it is described with 1 GB

  Rule: There are sessions, and keys select nothing

    @PREM-11
    Scenario: A message belongs to the session that its SessionId names
      Given a regular queue that requires sessions
      And a message with SessionId "b" was sent
      And 3 messages with SessionId "a" were sent
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 3 messages were received

    @PREM-11
    Scenario: A message without SessionId belongs to none
      Given a regular queue that requires sessions
      And a message with SessionId "a" was sent
      When a message with PartitionKey "a" is sent
      And session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 1 message was received

    @PREM-12
    Scenario: A message is accepted with any PartitionKey, and received with it
      Given a regular queue
      And a message with PartitionKey "a" was sent
      When everything is received and completed
      Then exactly 1 message was received
      And it has PartitionKey "a"

    @PREM-12
    Scenario: Messages with different keys are all accepted and received
      Given a regular queue
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 3 of each
      When everything is received and completed
      Then exactly 9 messages were received

    @PREM-13
    Scenario: Messages without key share a transaction
      Given a regular queue
      And a transaction
      When 3 messages without key are sent in the transaction
      Then all of them are accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 3 messages were received

    @PREM-13
    Scenario: Messages with different keys share a transaction
      Given a regular queue
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When a message with PartitionKey "b" is sent in the transaction
      Then it is accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 2 messages were received

    @PREM-13
    Scenario: Messages of two sessions share a transaction
      Given a regular queue
      And a transaction
      And a message with SessionId "a" was sent in the transaction
      When a message with SessionId "b" is sent in the transaction
      Then it is accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 2 messages were received
