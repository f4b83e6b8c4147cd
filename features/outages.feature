Feature: State that an outage must not change
  An outage of a partition only delays. Locks, delivery counts, states and sequence numbers survive
  it, and what was answered before or during the outage holds after it.

  Rule: What is settled in an outage stays settled, or comes again

    @LOCK-08
    Scenario Outline: A message that is settled while its partition is down is gone, or comes again
      Given a <kind> queue with locks of 5 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And the partition that took the first message goes down
      And the message kept is <settled>
      And the partition is up again
      And 5 seconds pass
      And everything is received and completed
      Then exactly 0 messages were received, or 1 if it was refused

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | dead-lettered |
        | partitioned | deferred      |
        | regular     | completed     |
        | regular     | dead-lettered |
        | regular     | deferred      |

    @LOCK-08
    Scenario: Of many messages that are completed in an outage none is lost and none comes twice
      Given a partitioned queue with locks of 5 seconds
      And 12 messages with PartitionKey "a" were sent
      When 12 messages are received and kept
      And the partition that took the first message goes down
      And each of them, the latest first, is completed
      And the partition is up again
      And 5 seconds pass
      And everything is received and completed
      Then as many messages were received as were refused

    @LOCK-08
    Scenario: A message of a session that is completed in an outage is gone, or comes again
      Given a partitioned queue that requires sessions and with locks of 5 seconds
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And each of them in session "s" is received and kept
      And the partition that took the first message goes down
      And each of them is completed
      And the partition is up again
      And 6 seconds pass
      And session "s" is accepted
      And everything of session "s" is received and completed
      Then as many messages were received as were refused

    @DLQ-07
    Scenario: A dead letter that is completed in an outage is gone, or comes again
      Given a partitioned queue with locks of 5 seconds
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When a message among its dead letters is received and kept
      And the partition that took the first message goes down
      And the message kept among its dead letters is completed
      And the partition is up again
      And 5 seconds pass
      And everything among its dead letters is received and completed
      Then exactly 0 messages were received, or 1 if it was refused

    @PART-04
    Scenario Outline: What was completed before an outage does not come back after it
      Given a <kind> queue
      And 6 messages with PartitionKey "a" were sent
      And everything was received and completed
      When every partition is down for a while
      And 60 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |

    @PART-04
    Scenario: What was abandoned before an outage comes after it, once
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      When one message is received and abandoned
      And every partition is down for a while
      And everything is received and completed
      Then exactly 1 message was received

    @PART-04
    Scenario: What was deleted on receipt before an outage does not come back after it
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      When a message is received and deleted
      And every partition is down for a while
      And 60 seconds pass
      Then a receive finds nothing

  Rule: An outage frees nothing

    @LIFE-02
    Scenario Outline: What somebody has locked stays locked in an outage and after it
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And the partition that took the first message goes down
      And the partition is up again
      And a receive is tried over another connection
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-01
    Scenario Outline: The lock still holds after an outage that is shorter
      Given a <kind> queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And the partition that took the first message goes down
      And only 10 of 30 seconds pass
      And the partition is up again
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-10
    Scenario: A session stays with its holder in an outage
      Given a partitioned queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And the partition that took the first message goes down
      And the partition is up again
      And session "s" is requested over another connection
      Then it is refused

    @SESS-12
    Scenario: After an outage the holder goes on with its session
      Given a partitioned queue that requires sessions
      And 3 messages with SessionId "s" were sent
      When session "s" is accepted
      And the partition that took the first message goes down
      And the partition is up again
      And everything of session "s" is received and completed
      Then exactly 3 messages were received

    @SESS-19
    Scenario: A state that was set before an outage is there after it
      Given a partitioned queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And session "s" is given the state "half"
      And the partition that took the first message goes down
      And the partition is up again
      Then the state of session "s" is "half"

    @SESS-19
    Scenario: A state that is set in an outage is there after it, unless it was refused
      Given a partitioned queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And session "s" is given the state "before"
      And the partition that took the first message goes down
      And session "s" is given the state "after"
      And the partition is up again
      Then the state of session "s" is "after", or "before" if it was refused

    @LOCK-04
    Scenario: A lock that is renewed in an outage lasts on, or it was refused
      Given a partitioned queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And the partition that took the first message goes down
      And only 20 of 30 seconds pass
      And the lock of the message kept is renewed
      And the partition is up again
      And 15 seconds pass
      And a receive is tried over another connection
      Then at most 0 messages were received, or 1 if it was refused

  Rule: An outage forgets nothing

    @DLQ-01
    Scenario Outline: Deliveries are counted on after an outage
      Given a <kind> queue with 3 deliveries
      And a message with PartitionKey "a" was sent
      When one message is received and abandoned
      And the partition that took the first message goes down
      And the partition is up again
      And a message is received and kept
      Then it is delivery 2

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-05
    Scenario: A dead letter outlasts an outage
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When every partition is down for a while
      And everything among its dead letters is received and completed
      Then exactly 1 message was received
      And it is a dead letter because of "unreadable"

    @DEFER-13
    Scenario Outline: A deferred message has its number after an outage
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When a message is received and deferred
      And the partition that took the first message goes down
      And the partition is up again
      Then a receive finds nothing
      When it is tried by its number
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-04
    Scenario: What was cancelled before an outage does not come after it
      Given a partitioned queue
      And a message with PartitionKey "a" was scheduled in 20 seconds
      When the scheduled message is cancelled
      And every partition is down for a while
      And 20 seconds pass
      Then a receive finds nothing

    @SCHED-11
    Scenario: What is due in an outage comes after it, once
      Given a partitioned queue
      And a message with PartitionKey "a" was scheduled in 5 seconds
      And every partition is down
      When 10 seconds pass
      And every partition is up again
      And 1 message is awaited
      And everything is received and completed
      Then exactly 1 message was received

    @SCHED-01
    Scenario: What is due after an outage does not come before its time
      Given a partitioned queue
      And a message with PartitionKey "a" was scheduled in 60 seconds
      When every partition is down for a while
      Then a receive finds nothing

    @SEQ-01
    Scenario: Numbers rise on over an outage
      Given a partitioned queue
      And 3 messages with PartitionKey "a" were sent
      When every partition is down for a while
      And 3 messages with PartitionKey "a" are sent
      And everything is received and completed
      Then exactly 6 messages were received
      And the sequence numbers of each key rise in the order of sending

    @KEY-02
    Scenario Outline: A key leads to its partition after an outage as before
      Given a partitioned queue
      And 2 messages with <key> were sent
      When every partition is down for a while
      And 2 messages with <key> are sent
      Then all that were sent are in one partition

      Examples:
        | key              |
        | PartitionKey "a" |
        | SessionId "a"    |

    @KEY-17
    Scenario: Messages of a key keep their order over an outage
      Given a partitioned queue
      And 5 messages with PartitionKey "a" were sent
      When every partition is down for a while
      And 5 messages with PartitionKey "a" are sent
      And everything is received and completed
      Then exactly 10 messages were received
      And the messages came in the order in which they were sent

    @DUP-09
    Scenario Outline: A copy is known after an outage
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" was sent
      When the partition that took the first message goes down
      And the partition is up again
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-11
    Scenario: A queue's settings are the same after an outage
      Given a partitioned queue with locks of 30 seconds and with 4 deliveries and with a time to live of 300 seconds
      When every partition is down for a while
      Then it is described as partitioned, with locks of 30 seconds and with 4 deliveries and with a time to live of 300 seconds

    @SCHED-02
    Scenario: What was scheduled before an outage comes after it
      Given a partitioned queue
      And 3 messages with PartitionKey "a" were scheduled in 60 seconds
      When every partition is down for a while
      And 60 seconds pass
      And 3 messages are awaited
      Then exactly 3 messages were received

    @TTL-01
    Scenario: A message does not begin to live anew after an outage
      Given clocks that run on in an outage
      And a partitioned queue
      And a message with PartitionKey "a" was sent that lives for 30 seconds
      When 20 seconds pass
      And every partition is down for a while
      And 20 seconds pass
      Then a receive finds nothing

    @LOCK-01
    Scenario: A lock does not begin anew after an outage
      Given clocks that run on in an outage
      And a partitioned queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And 20 seconds pass
      And every partition is down for a while
      And 20 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

    @SESS-11
    Scenario: The lock of a session does not begin anew after an outage
      Given clocks that run on in an outage
      And a partitioned queue with locks of 30 seconds and that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And 20 seconds pass
      And every partition is down for a while
      And 20 seconds pass
      And session "s" is requested over another connection
      Then it is accepted

    @DUP-01
    Scenario: The window of a MessageId does not begin anew after an outage
      Given clocks that run on in an outage
      And a partitioned queue with duplicate detection over 60 seconds
      And a message with MessageId "x" was sent
      When 40 seconds pass
      And every partition is down for a while
      And 40 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 2 messages were received

    @MGMT-26 @MGMT-27
    Scenario: A queue that was disabled is disabled after an outage
      Given a partitioned queue
      And 2 messages with PartitionKey "a" were sent
      When the queue is disabled
      And every partition is down for a while
      And a message with PartitionKey "a" is sent
      Then it is refused because the entity is disabled
      And a receive is refused because the entity is disabled
      When the queue is active again
      And everything is received and completed
      Then exactly 2 messages were received

    @TTL-01
    Scenario: A message that expires in an outage does not come after it, unless its clock stood
      Given a partitioned queue
      And a message with PartitionKey "a" was sent that lives for 5 seconds
      When the partition that took the first message goes down
      And 10 seconds pass
      And the partition is up again
      Then a receive may find something

  Rule: A refusal in an outage has no effect after it

    @KEY-03
    Scenario Outline: What was refused in an outage never arrives
      Given a partitioned queue <traits>
      And a message with <key> was sent
      And the partition that took it is down
      When a message with <key> is sent
      Then it is refused
      When the partition is up again
      And 5 messages with <other> are sent
      And everything is received and completed
      Then exactly 6 messages were received

      Examples:
        | traits                   | key              | other                          |
        | without sessions         | PartitionKey "a" | PartitionKey "a"               |
        | without sessions         | SessionId "a"    | SessionId "a"                  |
        | with duplicate detection | MessageId "x"    | MessageId each its own         |

    @DUP-08
    Scenario: What was refused in an outage can be sent again with its MessageId
      Given a partitioned queue with duplicate detection
      And a message with MessageId "x" and PartitionKey "a" was sent
      And the partition that took it is down
      And a message with MessageId "y" and PartitionKey "a" was refused
      When the partition is up again
      And a message with MessageId "y" and PartitionKey "a" is sent
      And everything is received and completed
      Then exactly 2 messages were received

  Rule: A commit that is acknowledged holds, whatever goes down when

    @TXN-12
    Scenario Outline: The partition goes down between the sends and the commit
      Given a partitioned queue <traits>
      And a message with <key> was sent
      And everything was received and completed
      And a transaction
      When 3 messages with <sent> are sent in the transaction
      And the partition that took the first message goes down
      And the commit is tried
      And the partition is up again
      And 60 seconds pass
      And everything is received and completed
      Then exactly 4 messages were received, or 1 if it was refused

      Examples:
        | traits                   | key                                | sent                                       |
        | without sessions         | PartitionKey "a"                   | PartitionKey "a"                           |
        | without sessions         | SessionId "a"                      | SessionId "a"                              |
        | with duplicate detection | MessageId "x" and PartitionKey "a" | MessageId each its own and PartitionKey "a" |

    @TXN-12 @BATCH-08
    Scenario: The partition goes down between a batch and the commit
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And everything was received and completed
      And a transaction
      When 3 messages with PartitionKey "a" are sent at once in the transaction
      And the partition that took the first message goes down
      And the commit is tried
      And the partition is up again
      And 60 seconds pass
      And everything is received and completed
      Then exactly 4 messages were received, or 1 if it was refused

    @TXN-12
    Scenario: The only store of a regular queue goes down between the sends and the commit
      Given a regular queue
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      When its only store goes down
      And the commit is tried
      And its only store is up again
      And 60 seconds pass
      And everything is received and completed
      Then exactly 3 messages were received, or 0 if it was refused

    @TXN-12
    Scenario Outline: The partition goes down after the commit
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a transaction
      And 3 messages with <sent> were sent in the transaction
      When the transaction is committed
      And the partition that took the first message goes down
      And the partition is up again
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | sent             |
        | PartitionKey "a" |
        | SessionId "s"    |

    @TXN-12
    Scenario: A transaction outlasts an outage between its sends
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a transaction
      And 2 messages with PartitionKey "a" were sent in the transaction
      When the partition that took the first message goes down
      And the partition is up again
      And the commit is tried
      And everything is received and completed
      Then exactly 3 messages were received, or 1 if it was refused

    @TXN-13
    Scenario: What was rolled back in an outage never arrives
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a transaction
      And 2 messages with PartitionKey "a" were sent in the transaction
      When the partition that took the first message goes down
      And the transaction is rolled back, if it can be
      And the partition is up again
      And everything is received and completed
      Then exactly 1 message was received

    @LOCK-11
    Scenario: The partition goes down between a completion in a transaction and the commit
      Given a partitioned queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is completed in the transaction
      And the partition that took the first message goes down
      And the commit is tried
      And the partition is up again
      And 60 seconds pass
      And everything is received and completed
      Then exactly 0 messages were received, or 1 if it was refused

    @TXN-12 @LOCK-13
    Scenario Outline: A commit that is refused settles nothing and sends nothing
      Given a partitioned queue
      And 2 messages with PartitionKey "a" were sent
      And a transaction
      When a message is received and kept
      And the message kept is <settled> in the transaction
      And 2 messages with PartitionKey "a" are sent in the transaction
      And the partition that took the first message goes down
      And the commit is tried
      And the partition is up again
      And 60 seconds pass
      And everything is received and completed
      Then exactly <committed> messages were received, or 2 if it was refused

      Examples:
        | settled       | committed |
        | completed     | 3         |
        | dead-lettered | 3         |
        | deferred      | 3         |
        | abandoned     | 4         |

  Rule: Topics and their subscriptions stay as they are

    @FILTER-07
    Scenario Outline: A subscription takes what its rule takes, in an outage and after it
      Given a partitioned topic
      And subscription "one" that takes messages with Label "x"
      And a message with PartitionKey "a" and Label "x" was sent
      When <number> partitions go down
      And every partition is up again
      And a message with PartitionKey "a" and Label "y" is sent
      And a message with PartitionKey "a" and Label "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | number |
        | 1      |
        | 15     |

    @FILTER-03
    Scenario: A message that is sent in an outage of others is filtered
      Given a partitioned topic
      And subscription "one" that takes messages where color = 'red'
      And subscription "two"
      And 3 partitions are down
      When a message with property color "blue" is sent
      And a message with property color "red" is sent
      And every partition is up again
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has property color "red"

    @TOPIC-10
    Scenario: What a topic refused in an outage reaches no subscription
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And every partition is down
      When a message with PartitionKey "a" is sent
      Then it is refused
      When every partition is up again
      And receivers turn to subscription "one"
      Then a receive finds nothing
      When receivers turn to subscription "two"
      Then a receive finds nothing

    @TOPIC-02
    Scenario: A subscription keeps its copy over an outage, whatever the other one did
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      When senders turn to the topic
      And every partition is down for a while
      And receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received
      When receivers turn to subscription "one"
      Then a receive finds nothing

    @PART-04 @DLQ-12
    Scenario Outline: Dead letters of a subscription outlast an outage of its topic
      Given a partitioned topic
      And subscription "one"
      And 4 messages with <key> were sent
      When receivers turn to subscription "one"
      And each message is received and dead-lettered
      And senders turn to the topic
      And every partition is down for a while
      And receivers turn to subscription "one"
      And everything among its dead letters is received and completed
      Then exactly 4 messages were received
      And it is a dead letter because of "unreadable"

      Examples:
        | key                       |
        | PartitionKey "a"          |
        | PartitionKey each its own |

    @PART-04 @SCHED-02
    Scenario: What is scheduled in a topic comes after its outage
      Given a partitioned topic
      And subscription "one"
      And 2 messages with PartitionKey "a" were scheduled in 60 seconds
      When every partition is down for a while
      And 60 seconds pass
      And receivers turn to subscription "one"
      And 2 messages are awaited
      Then exactly 2 messages were received

    @SCHED-11 @TOPIC-01
    Scenario Outline: What is due in an outage of its topic comes to each subscription after it
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And 2 messages with <key> "a" were scheduled in 5 seconds
      And every partition is down
      When 10 seconds pass
      And every partition is up again
      And receivers turn to subscription "two"
      And 2 messages are awaited
      Then exactly 2 messages were received
      When receivers turn to subscription "one"
      And 2 messages are awaited
      Then exactly 2 messages were received

      Examples:
        | key          |
        | PartitionKey |
        | SessionId    |

    @MGMT-20 @MGMT-22
    Scenario Outline: A message is counted after an outage whatever it was before
      Given a partitioned queue with locks of 5 minutes
      And 3 messages with PartitionKey "a" were sent
      When a message is received and <held>
      And the partition that took the first message goes down
      And the partition is up again
      Then in the end it is described with <number> messages

      Examples:
        | held                                   | number |
        | kept                                   | 3      |
        | deferred                               | 3      |
        | deleted                                | 2      |
        | dead-lettered because of "unreadable"  | 2      |

    @SESS-19 @TOPIC-13
    Scenario: A session of a subscription has its holder and its state after an outage of its topic
      Given a partitioned topic
      And subscription "one" that requires sessions
      And 2 messages with SessionId "s" were sent
      When receivers turn to subscription "one"
      And session "s" is accepted
      And session "s" is given the state "half"
      And senders turn to the topic
      And every partition is down for a while
      And receivers turn to subscription "one"
      Then the state of session "s" is "half"
      When session "s" is requested over another connection
      Then it is refused
      When everything of session "s" is received and completed
      Then exactly 2 messages were received

    @SCHED-03 @SCHED-04
    Scenario Outline: What was scheduled before an outage is cancelled after it
      Given a partitioned queue
      And a message with <key> was scheduled in 60 seconds
      When every partition is down for a while
      And the scheduled message is cancelled
      Then it is accepted
      When 60 seconds pass
      Then a receive finds nothing

      Examples:
        | key                       |
        | PartitionKey "a"          |
        | MessageId "x"             |

  Rule: A peek in an outage may be read to be served

    @PART-29
    Scenario Outline: A peek shows what other partitions hold while some are down
      Given a partitioned queue
      And 64 messages without key were sent
      When <number> partitions go down
      And up to <count> messages are peeked
      Then at most <count> messages are shown

      Examples:
        | number | count |
        | 1      | 1     |
        | 1      | 64    |
        | 8      | 64    |
