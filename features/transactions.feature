Feature: Transactions on partitioned queues
  One broker handles all messages of a transaction. So each message must have a key, and all of them
  the same one. Messages sent in a transaction can be received after its commit, or never.

  Rule: A message with a key can be sent in a transaction

    @TXN-01
    Scenario Outline: A message with a key is accepted in a transaction
      Given a partitioned queue <kind>
      And a transaction
      When a message with <property> "a" is sent in the transaction
      Then it is accepted

      Examples:
        | kind                       | property     |
        | without sessions           | SessionId    |
        | without sessions           | PartitionKey |
        | with duplicate detection   | MessageId    |
        | that requires sessions     | SessionId    |

    @TXN-02
    Scenario Outline: Several messages with the same key are accepted in a transaction
      Given a partitioned queue
      And a transaction
      When 5 messages with <property> "a" are sent in the transaction
      Then all of them are accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 5 messages were received

      Examples:
        | property     |
        | SessionId    |
        | PartitionKey |

    @TXN-11
    Scenario: A PartitionKey serves for messages that belong to no session
      Given a partitioned queue
      And a transaction
      When 2 messages with PartitionKey "a" are sent in the transaction
      Then all of them are accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 2 messages were received

  Rule: A message without key is an invalid operation

    @TXN-03
    Scenario: A message without key is refused in a transaction
      Given a partitioned queue
      And a transaction
      When a message without key is sent in the transaction
      Then it is refused as an invalid operation

    @TXN-03
    Scenario: A message without key is refused behind one with a key
      Given a partitioned queue
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When a message without key is sent in the transaction
      Then it is refused as an invalid operation

  Rule: Messages with different keys are an invalid operation

    @TXN-04
    Scenario: A second key is refused in a transaction
      Given a partitioned queue
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When a message with PartitionKey "b" is sent in the transaction
      Then it is refused as an invalid operation

    @TXN-04
    Scenario: A second key is refused behind several messages with the first
      Given a partitioned queue
      And a transaction
      And 4 messages with PartitionKey "a" were sent in the transaction
      When a message with PartitionKey "b" is sent in the transaction
      Then it is refused as an invalid operation

    @TXN-04
    Scenario: Even keys that share a partition are different keys
      Given a partitioned queue
      And a key "b" in the same partition as "a"
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When a message with PartitionKey "b" is sent in the transaction
      Then it is refused as an invalid operation

    @TXN-08
    Scenario: Two sessions cannot share a transaction
      Given a partitioned queue that requires sessions
      And a transaction
      And a message with SessionId "a" was sent in the transaction
      When a message with SessionId "b" is sent in the transaction
      Then it is refused as an invalid operation

    @TXN-09
    Scenario: On a regular queue, two sessions can share a transaction
      Given a regular queue that requires sessions
      And a transaction
      And a message with SessionId "a" was sent in the transaction
      When a message with SessionId "b" is sent in the transaction
      Then it is accepted

  Rule: A regular queue asks for no key

    @TXN-14
    Scenario: On a regular queue, messages without key are accepted in a transaction
      Given a regular queue
      And a transaction
      When 3 messages without key are sent in the transaction
      Then all of them are accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 3 messages were received

    @TXN-14
    Scenario: On a regular queue, messages with different keys share a transaction
      Given a regular queue
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When a message with PartitionKey "b" is sent in the transaction
      Then it is accepted

    @TXN-12
    Scenario Outline: What a transaction sends to two queues arrives in both, or in none
      Given a <kind> queue
      And another <kind> queue
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When a message with PartitionKey "a" is sent to the other one in the transaction
      Then it is accepted or refused
      When the transaction is committed, if it can be
      And everything is received and completed
      Then at most 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A transaction may be held to one queue

    @TXN-15
    Scenario Outline: A second queue is refused where a transaction concerns one
      Given a partitioned queue
      And another <kind> queue
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When a message with PartitionKey "a" is sent to the other one in the transaction
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A queue that requires sessions asks for a SessionId in a transaction

    @TXN-06
    Scenario: A message without SessionId is refused, whatever its PartitionKey
      Given a partitioned queue that requires sessions
      And a transaction
      When a message with PartitionKey "a" is sent in the transaction
      Then it is refused

    @TXN-07
    Scenario: A PartitionKey must not differ from the SessionId in a transaction
      Given a partitioned queue that requires sessions
      And a transaction
      When a message with SessionId "a" and PartitionKey "b" is sent in the transaction
      Then it is refused as an invalid operation

    @TXN-07
    Scenario: A PartitionKey may be identical with the SessionId in a transaction
      Given a partitioned queue that requires sessions
      And a transaction
      When a message with SessionId "a" and PartitionKey "a" is sent in the transaction
      Then it is accepted

  Rule: A key pins in a transaction as it does outside

    @TXN-05
    Scenario: A key selects the same partition in a transaction
      Given a partitioned queue
      And 2 messages with PartitionKey "a" were sent
      And a transaction
      When a message with PartitionKey "a" is sent in the transaction
      And the transaction is committed
      Then all that were sent are in one partition

    @TXN-05
    Scenario: A key whose partition is down is refused in a transaction
      Given a partitioned queue
      And every partition is down
      And a transaction
      When a message with PartitionKey "a" is sent in the transaction
      Then it is refused, or the transaction's commit is refused

    @TXN-10
    Scenario: All messages of a transaction are in one partition
      Given a partitioned queue
      And a transaction
      When 8 messages with PartitionKey "a" are sent in the transaction
      And the transaction is committed
      Then all that were sent are in one partition

  Rule: All or nothing, and not before the commit

    @TXN-12
    Scenario Outline: Nothing of a transaction is received before its commit, and all of it afterwards
      Given a <kind> queue
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      Then a receive finds nothing
      When the transaction is committed
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-13
    Scenario Outline: Nothing of a transaction that was rolled back is ever received
      Given a <kind> queue
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      When the transaction is rolled back
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-12
    Scenario Outline: A peek shows nothing of a transaction before its commit
      Given a <kind> queue
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      When messages are peeked
      Then exactly 0 messages are shown
      When the transaction is committed
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-13
    Scenario Outline: A peek shows nothing of a transaction that was rolled back
      Given a <kind> queue
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      When the transaction is rolled back
      And messages are peeked
      Then exactly 0 messages are shown

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-13
    Scenario Outline: A transaction that was rolled back takes nothing more
      Given a <kind> queue
      And a transaction
      When a message with PartitionKey "a" is sent in the transaction
      And the transaction is rolled back
      And <asked>
      Then it is refused
      When the commit is tried
      Then it is refused
      When everything is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        | asked                                                               |
        | partitioned | a message with PartitionKey "a" is sent in the transaction          |
        | partitioned | 2 messages with PartitionKey "a" are sent at once in the transaction |
        | partitioned | a message with PartitionKey "a" is scheduled in the transaction in 5 seconds |
        | regular     | a message with PartitionKey "a" is sent in the transaction          |

  Rule: Transactions at the same time know nothing of each other

    @TXN-12 @TXN-13
    Scenario Outline: What becomes of one transaction changes nothing in the other
      Given a <kind> queue
      And a transaction
      And 2 messages with PartitionKey "a" were sent in the transaction
      When another transaction is begun
      And 3 messages with PartitionKey "a" are sent in the transaction
      And the first transaction is <first>
      And the transaction is <second>
      And everything is received and completed
      Then exactly <number> messages were received

      Examples:
        | kind        | first       | second      | number |
        | partitioned | committed   | committed   | 5      |
        | partitioned | committed   | rolled back | 2      |
        | partitioned | rolled back | committed   | 3      |
        | partitioned | rolled back | rolled back | 0      |
        | regular     | committed   | rolled back | 2      |
        | regular     | rolled back | committed   | 3      |

    @TXN-12
    Scenario Outline: With one commit only what was sent in its transaction is received
      Given a <kind> queue
      And a transaction
      And 2 messages with PartitionKey "a" were sent in the transaction
      When another transaction is begun
      And 3 messages with PartitionKey "a" are sent in the transaction
      And the first transaction is committed
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-02
    Scenario Outline: Each of two transactions has a key of its own
      Given a partitioned queue
      And a transaction
      And a message with <property> "a" was sent in the transaction
      When another transaction is begun
      And a message with <property> "b" is sent in the transaction
      Then it is accepted

      Examples:
        | property     |
        | SessionId    |
        | PartitionKey |

    @TXN-12 @DUP-10
    Scenario: A MessageId of a transaction that was rolled back makes no copy in another one
      Given a partitioned queue with duplicate detection
      And a transaction
      And a message with MessageId "x" was sent in the transaction
      When another transaction is begun
      And the first transaction is rolled back
      And a message with MessageId "x" is sent in the transaction
      And the transaction is committed
      And everything is received and completed
      Then exactly 1 message was received

    @TXN-12
    Scenario: A hundred transactions one after another each arrive
      Given a partitioned queue
      When 110 messages with PartitionKey "a" are sent, each in a transaction of its own
      And everything is received and completed
      Then exactly 110 messages were received
