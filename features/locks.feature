Feature: Message locks
  How long a message is locked for its receiver, how the receiver can renew the lock, and what ends
  it.

  Rule: A lock lasts as long as its queue says

    @LOCK-01
    Scenario Outline: Until its lock ends a message can be settled
      Given a <kind> queue with locks of 30 seconds
      And a message without key was sent
      When a message is received and kept
      And only 20 of 30 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-01
    Scenario Outline: Until its lock ends nobody else is given a message
      Given a <kind> queue with locks of 30 seconds
      And a message without key was sent
      When a message is received and kept
      And only 20 of 30 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-02
    Scenario Outline: A lock lasts a minute where its queue says nothing
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      And only 40 of 60 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-03
    Scenario Outline: No lock lasts for more than five minutes
      Given perhaps a <kind> queue with locks of 10 minutes
      When a message without key is sent
      And a message is received and kept, if it comes
      And 300 seconds pass
      And everything is received and completed
      Then exactly 1 message was received, or 0 if it was refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A lock can be renewed while it lasts

    @LOCK-04
    Scenario Outline: A renewed lock lasts for its whole time again
      Given a <kind> queue with locks of 30 seconds
      And a message without key was sent
      When a message is received and kept
      And only 20 of 30 seconds pass
      And the lock of the message kept is renewed, which succeeds
      And only 20 of 30 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-04
    Scenario Outline: A lock can be renewed more than once
      Given a <kind> queue with locks of 30 seconds
      And a message without key was sent
      When a message is received and kept
      And only 20 of 30 seconds pass
      And the lock of the message kept is renewed, which succeeds
      And only 20 of 30 seconds pass
      And the lock of the message kept is renewed, which succeeds
      And only 20 of 30 seconds pass
      Then a receive over another connection finds nothing
      When the message kept is completed
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-05
    Scenario Outline: A lock that has expired is not renewed
      Given a <kind> queue with locks of 5 seconds
      And a message without key was sent
      When a message is received and kept
      And 5 seconds pass
      And the lock of the message kept is renewed
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-05
    Scenario Outline: A lock that is used up is not renewed
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      And the message kept is <settled>
      And the lock of the message kept is renewed
      Then it is refused

      Examples:
        | kind        | settled   |
        | partitioned | completed |
        | regular     | completed |
        | partitioned | abandoned |
        | regular     | abandoned |

    @LOCK-04
    Scenario Outline: The lock of a later delivery is renewed as that of the first
      Given a <kind> queue with locks of 20 seconds
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      And a message with PartitionKey "a" was sent
      When receivers turn to <where>
      And one message is received and abandoned, 2 times
      And a message is received and kept
      And only 12 of 20 seconds pass
      And the lock of the message kept is renewed, which succeeds
      And only 12 of 20 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        | where            |
        | partitioned | "orders"         |
        | partitioned | its dead letters |
        | regular     | "orders"         |
        | regular     | its dead letters |

  Rule: A lock is of one delivery, and of one message

    @LOCK-07
    Scenario Outline: The lock of an earlier delivery settles nothing
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      And the message kept is abandoned
      And it is received over another connection
      And the message kept is <settled>
      Then it is refused
      And the other receiver can complete it

      Examples:
        | kind        | settled   |
        | partitioned | completed |
        | regular     | completed |
        | partitioned | abandoned |
        | regular     | abandoned |

    @LOCK-07
    Scenario Outline: The lock of an earlier delivery is not renewed
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      And the message kept is abandoned
      And it is received over another connection
      And the lock of the message kept is renewed
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-08
    Scenario Outline: A message whose completion came too late comes again
      Given a <kind> queue with locks of 5 seconds
      And a message without key was sent
      When a message is received and kept
      And 5 seconds pass
      And the message kept is completed
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-08
    Scenario Outline: A message that was completed at the last moment does not come again
      Given a <kind> queue with locks of 30 seconds
      And a message without key was sent
      And a message without key was sent
      When a message is received and kept
      And only 25 of 30 seconds pass
      And the message kept is completed
      And 30 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-09
    Scenario Outline: A message that comes back is not lost among later ones
      Given a <kind> queue
      And 10 messages with PartitionKey "a" were sent
      When one message is received and abandoned
      And everything is received and completed
      Then exactly 10 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-10
    Scenario Outline: What becomes of one message leaves the lock of another as it is
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were sent
      When a message is received and kept
      And one message is received and <settled>
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        | settled   |
        | partitioned | completed |
        | regular     | completed |
        | partitioned | abandoned |
        | regular     | abandoned |

    @LOCK-10
    Scenario Outline: Renewing one lock leaves another as it is
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And the first of them is renewed
      And each of them, the latest first, is completed
      Then all of them are accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: What is settled in a transaction is settled by its commit

    @LOCK-11
    Scenario Outline: Until the commit a message stays locked that is <settled>
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is <settled> in the transaction
      Then it is accepted
      And a receive finds nothing
      And a receive over another connection finds nothing
      When messages are peeked
      Then exactly 1 message is shown

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | abandoned     |
        | partitioned | dead-lettered |
        | partitioned | deferred      |
        | regular     | completed     |
        | regular     | abandoned     |

    @LOCK-11
    Scenario Outline: After the commit a message is gone that was completed
      Given a <kind> queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is completed in the transaction
      And the transaction is committed
      And 31 seconds pass
      And everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-11
    Scenario Outline: After the commit a message is there that was abandoned
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is abandoned in the transaction
      And the transaction is committed
      And a message is received and kept
      Then it is delivery 2

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-11
    Scenario: Only after the commit a message is a dead letter
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is dead-lettered in the transaction
      Then a receive among its dead letters finds nothing
      When the transaction is committed
      And everything among its dead letters is received and completed
      Then exactly 1 message was received

    @LOCK-11
    Scenario: Only after the commit a message is set aside
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is deferred in the transaction
      And the message kept is tried by its number
      Then it is refused
      When the transaction is committed
      And the message kept is tried by its number
      Then it is accepted

    @LOCK-11 @TOPIC-20
    Scenario Outline: Only after the commit a message of a subscription is set aside
      Given a <kind> topic
      And subscription "one"
      And a message with PartitionKey "a" was sent
      And a transaction
      When receivers turn to subscription "one"
      And a message is received and kept
      And the message kept is deferred in the transaction
      And the transaction is committed
      And the message kept is tried by its number
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-11
    Scenario Outline: What is settled and what is sent take effect together
      Given a <kind> queue with locks of 30 seconds
      And 3 messages with PartitionKey "a" were sent
      And a transaction
      When 3 messages are received and completed in the transaction
      And 2 messages with PartitionKey "a" are sent in the transaction
      Then all of them are accepted
      And a receive finds nothing
      When the transaction is committed
      And 31 seconds pass
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A rollback leaves messages as they were

    @LOCK-12
    Scenario Outline: After a rollback the receiver can settle what was <settled>
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is <settled> in the transaction
      And the transaction is rolled back
      Then a receive over another connection finds nothing
      When the message kept is completed
      Then it is accepted
      And a receive finds nothing

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | abandoned     |
        | partitioned | dead-lettered |
        | partitioned | deferred      |
        | regular     | completed     |
        | regular     | abandoned     |

    @LOCK-12 @SESS-05
    Scenario Outline: After a rollback a session has its holder, and what it received is locked
      Given a <kind> queue that requires sessions
      And 2 messages with SessionId "s" were sent
      And a transaction
      When session "s" is accepted
      And a message of session "s" is received and kept
      And the message kept is <settled> in the transaction
      And the transaction is rolled back
      And session "s" is requested over another connection
      Then it is refused
      When the message kept is completed
      Then it is accepted
      When everything of session "s" is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | dead-lettered |
        | regular     | completed     |

    @LOCK-12
    Scenario Outline: A rollback is no delivery
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is completed in the transaction
      And a message with PartitionKey "a" is sent in the transaction
      And the transaction is rolled back
      And the message kept is abandoned
      And a message is received and kept
      Then it is delivery 2

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-12
    Scenario Outline: After a rollback a lock ends when it would have
      Given a <kind> queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is completed in the transaction
      And the transaction is rolled back
      And 31 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: No commit settles what its receiver has lost

    @LOCK-13
    Scenario Outline: With a lost lock nothing is settled in a transaction
      Given a <kind> queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And 31 seconds pass
      And another transaction is begun
      And the message kept is completed in the transaction
      Then it is refused, or the transaction's commit is refused
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-13
    Scenario Outline: A commit settles nothing that somebody else has by then
      Given a <kind> queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is <settled> in the transaction
      And 31 seconds pass
      And it is received over another connection, if it comes
      Then the commit is refused and the other receiver can complete it, if it has come

      Examples:
        | kind        | settled   |
        | partitioned | completed |
        | partitioned | abandoned |
        | regular     | completed |

    @LOCK-13
    Scenario Outline: What was sent beside it does not arrive either
      Given a <kind> queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is completed in the transaction
      And a message with PartitionKey "a" is sent in the transaction
      And 31 seconds pass
      And it is received over another connection, if it comes
      Then the commit is refused and the other receiver can complete it, if it has come
      When everything is received and completed
      Then at most 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Locks of one partition are settled together

    @LOCK-14
    Scenario Outline: Messages of one key are <settled> in one request
      Given a <kind> queue with locks of 5 seconds
      And <number> messages with PartitionKey "a" were sent
      When each of them is received and kept
      And all of them are <settled> in one request
      Then it is accepted
      When 5 seconds pass
      And everything is received and completed
      Then exactly <left> messages were received

      Examples:
        | kind        | number | settled   | left |
        | partitioned | 3      | completed | 0    |
        | partitioned | 3      | abandoned | 3    |
        | partitioned | 3      | deferred  | 0    |
        | partitioned | 40     | completed | 0    |
        | regular     | 3      | completed | 0    |
        | regular     | 3      | abandoned | 3    |
        | regular     | 3      | deferred  | 0    |
        | regular     | 40     | completed | 0    |

    @LOCK-14
    Scenario Outline: Messages of one key are dead-lettered in one request
      Given a <kind> queue
      And 3 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And all of them are dead-lettered in one request
      Then it is accepted
      When everything among its dead letters is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-14 @DLQ-07
    Scenario Outline: Dead letters of one key are completed in one request
      Given a <kind> queue with locks of 5 seconds
      And 3 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And all of them are dead-lettered in one request
      And receivers turn to its dead letters
      And each of them is received and kept
      And all of them are completed in one request
      Then it is accepted
      When 5 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-14
    Scenario: On a regular queue messages of several keys are settled in one request
      Given a regular queue with locks of 5 seconds
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 2 of each
      When each of them is received and kept
      And all of them are completed in one request
      Then it is accepted
      When 5 seconds pass
      Then a receive finds nothing

    @LOCK-14
    Scenario: Messages of one session are settled in one request
      Given a partitioned queue that requires sessions
      And 3 messages with SessionId "a" were sent
      When session "a" is accepted
      And each of them in session "a" is received and kept
      And all of them are completed in one request
      Then it is accepted

    @LOCK-14
    Scenario: One lock that is named twice in a request may be refused
      Given a regular queue
      And a message with PartitionKey "a" was sent
      When each of them is received and kept
      And all of them are completed twice in one request
      Then it is accepted or refused

  Rule: Of several partitions all locks are used or none

    @LOCK-15 @LOCK-16
    Scenario: Messages of several partitions may have to be settled one by one
      Given a partitioned queue
      And 32 messages without key were sent
      When each of them is received and kept
      And all of them are completed in one request, or else one by one
      Then a receive finds nothing

    @LOCK-16
    Scenario Outline: What is refused for its partitions is <settled> later
      Given a partitioned queue
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 4 of each
      When each of them is received and kept
      And all of them are <settled> in one request, or else one by one
      And everything is received and completed
      Then exactly <left> messages were received

      Examples:
        | settled   | left |
        | completed | 0    |
        | abandoned | 12   |

    @LOCK-15 @LOCK-16
    Scenario: Locks of several partitions may have to be renewed one by one
      Given a partitioned queue with locks of 30 seconds
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 4 of each
      When each of them is received and kept
      And only 20 of 30 seconds pass
      And all of them are renewed in one request, or else one by one
      And only 20 of 30 seconds pass
      And each of them is completed
      Then all of them are accepted

  Rule: A lost lock among several is refused

    @LOCK-17
    Scenario Outline: A lock that was used up is refused among several
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And the first of them is completed
      And all of them are completed in one request
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-17
    Scenario Outline: A lock that has expired is refused among several
      Given a <kind> queue with locks of 30 seconds
      And 2 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And 31 seconds pass
      And all of them are completed in one request
      Then it is refused
      When everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-17
    Scenario Outline: A lost lock is not renewed among several
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And the first of them is completed
      And all of them are renewed in one request
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Locks of one partition are renewed together

    @LOCK-18
    Scenario Outline: Locks that were renewed together last for longer
      Given a <kind> queue with locks of 30 seconds
      And 3 messages with PartitionKey "a" were sent
      When each of them is received and kept
      And only 20 of 30 seconds pass
      And all of them are renewed in one request
      Then it is accepted
      When only 20 of 30 seconds pass
      And each of them is completed
      Then all of them are accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-18
    Scenario: On a regular queue locks of several keys are renewed together
      Given a regular queue
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 2 of each
      When each of them is received and kept
      And all of them are renewed in one request
      Then it is accepted
