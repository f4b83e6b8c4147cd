Feature: Scheduled messages
  A message can be sent now and arrive later. Until then nobody receives it, and its sender can
  cancel it by the sequence number that scheduling returned. No document states how soon after its
  time it can be received, so scenarios wait for two minutes (SCHEDULE-DELAY).

  Rule: It comes at its time, and not before

    @SCHED-01
    Scenario Outline: A scheduled message is not received before its time
      Given a <kind> queue
      And a message without key was scheduled in 30 seconds
      When only 10 of 30 seconds pass
      Then a receive finds nothing
      And a receive over another connection finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-01
    Scenario: An outage does not bring its time forward
      Given a partitioned queue
      And a message with PartitionKey "a" was scheduled in 30 seconds
      When every partition is down for a while
      Then a receive finds nothing

    @SCHED-02
    Scenario Outline: When it is due it comes like any other
      Given a <kind> queue
      And a message with PartitionKey "a" and MessageId "x" was scheduled in 5 seconds
      When 5 seconds pass
      And 1 message is awaited
      Then exactly 1 message was received
      And it has PartitionKey "a" and MessageId "x"
      And a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-14
    Scenario Outline: A time that has passed is now
      Given a <kind> queue
      And a message without key was scheduled for a minute ago
      When 1 message is awaited
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-06
    Scenario Outline: It is numbered anew when it comes
      Given a <kind> queue
      And a message without key was scheduled in 5 seconds
      When 5 seconds pass
      And 1 message is awaited
      Then each message received has another sequence number than when it was scheduled

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-08
    Scenario: A peek shows what is scheduled
      Given a regular queue
      And a message without key was scheduled in 30 seconds
      When messages are peeked
      Then exactly 1 message is shown
      And it is shown as scheduled

    @SCHED-08
    Scenario Outline: A peek may show what is scheduled wherever it will be
      Given a partitioned queue <traits>
      And a message <carried> was scheduled in 30 seconds
      When messages are peeked
      Then it is shown as scheduled, if it is shown

      Examples:
        | traits                   | carried            |
        | without sessions         | without key        |
        | that requires sessions   | with SessionId "a" |
        | with duplicate detection | with MessageId "x" |

    @SCHED-08
    Scenario Outline: A peek shows what is scheduled among other messages
      Given a regular queue <traits>
      And a message <carried> was sent
      And a message <carried> was scheduled in 30 seconds
      When up to 1 message is peeked, 10 times
      Then each message shown is one of those that were sent

      Examples:
        | traits                   | carried               |
        | without sessions         | without key           |
        | without sessions         | with PartitionKey "a" |
        | with duplicate detection | with MessageId "x"    |
        | that requires sessions   | with SessionId "a"    |

  Rule: Its place is that of a message that is sent when it is due

    @SCHED-07
    Scenario: It comes behind what was sent before its time
      Given a partitioned queue
      And a message with PartitionKey "a" and the body "later" was scheduled in 5 seconds
      And a message with PartitionKey "a" and the body "now" was sent
      When 5 seconds pass
      And 2 messages are awaited
      Then exactly 2 messages were received
      And number 2 of them has the body "later"

    @SCHED-07
    Scenario Outline: So it does in its session
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" and the body "later" was scheduled in 5 seconds
      And a message with SessionId "a" and the body "now" was sent
      When 5 seconds pass
      And session "a" is accepted
      And 2 messages of session "a" are awaited
      Then exactly 2 messages were received
      And number 2 of them has the body "later"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-09
    Scenario: Its key selects its partition
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message with PartitionKey "a" was scheduled in 5 seconds
      And a message with PartitionKey "a" was scheduled in 6 seconds
      When 6 seconds pass
      And 3 messages are awaited
      Then all that were sent are in one partition

    @SCHED-09 @KEY-10
    Scenario: A MessageId that is its key selects its partition
      Given a partitioned queue with duplicate detection over 20 seconds
      And a message with MessageId "x" was sent
      When 60 seconds pass
      And a message with MessageId "x" is scheduled in 30 seconds
      And 60 seconds pass
      And 2 messages are awaited
      Then all that were sent are in one partition

    @SCHED-12
    Scenario: Keys that contradict each other are refused
      Given a partitioned queue
      When a message with SessionId "a" and PartitionKey "b" is scheduled in 5 seconds
      Then it is refused as an invalid operation

    @SCHED-12
    Scenario: What was refused never comes
      Given a partitioned queue
      When a message with SessionId "a" and PartitionKey "b" is scheduled in 5 seconds
      And 5 seconds pass
      Then it comes if it was scheduled, and otherwise never

    @SCHED-13
    Scenario Outline: It is not in its session before its time
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was scheduled in 30 seconds
      When the next session is requested over another connection
      Then there is none

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-13
    Scenario Outline: Whoever holds the session is not given it either
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was scheduled in 30 seconds
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-02 @SESS-05
    Scenario Outline: A scheduled message comes to the receiver that holds its session
      Given a <kind> queue that requires sessions
      And 2 messages with SessionId "s" were scheduled in 5 seconds
      When session "s" is accepted
      And 5 seconds pass
      And 2 messages of session "s" are awaited
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-02 @SESS-08
    Scenario Outline: A scheduled message comes whatever becomes of its session meanwhile
      Given a <kind> queue with locks of 10 seconds and that requires sessions
      And a message with SessionId "s" was scheduled in 30 seconds
      When session "s" is accepted
      And <meanwhile>
      And 30 seconds pass
      And session "s" is requested over another connection
      And a message of session "s" is awaited over another connection
      Then exactly 1 message was received

      Examples:
        | kind        | meanwhile                          |
        | partitioned | session "s" is closed              |
        | partitioned | 10 seconds pass                    |
        | partitioned | session "s" is given the state "x" |
        | regular     | session "s" is closed              |
        | regular     | 10 seconds pass                    |

  Rule: It can be taken back until it is due

    @SCHED-03
    Scenario Outline: It is cancelled by its number
      Given a <kind> queue
      And a message without key was scheduled in 30 seconds
      When the scheduled message is cancelled
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-04
    Scenario Outline: What was cancelled never comes
      Given a <kind> queue
      And a message without key was scheduled in 10 seconds
      When the scheduled message is cancelled
      And messages are peeked
      And 10 seconds pass
      Then exactly 0 messages are shown
      And a receive finds nothing
      And a receive over another connection finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-04
    Scenario Outline: A cancellation leaves another message with the same MessageId
      Given a <kind> queue
      And a message with MessageId "x" was scheduled in 10 seconds
      And a message with MessageId "x" was scheduled in 10 seconds
      When the scheduled message is cancelled
      And 10 seconds pass
      And 1 message is awaited
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-04
    Scenario Outline: What was cancelled in a topic never comes to a subscription
      Given a <kind> topic
      And subscription "one"
      And a message without key was scheduled in 10 seconds
      When the scheduled message is cancelled
      And 10 seconds pass
      And receivers turn to subscription "one"
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-04
    Scenario: Not after an outage either
      Given a partitioned queue
      And a message without key was scheduled in 10 seconds
      When the scheduled message is cancelled
      And every partition is down for a while
      And 10 seconds pass
      Then a receive finds nothing

    @SCHED-05
    Scenario Outline: A message that has come is not cancelled
      Given a <kind> queue
      And a message without key was scheduled in 5 seconds
      When 5 seconds pass
      And a message is awaited and abandoned
      And the scheduled message is cancelled
      Then it is accepted or refused
      And a receive finds something

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-05
    Scenario Outline: It is not cancelled twice
      Given a <kind> queue
      And a message without key was scheduled in 30 seconds
      And a message without key was sent
      When the scheduled message is cancelled
      And the scheduled message is cancelled
      Then it is accepted or refused
      And a receive finds something

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Outages and transactions

    @SCHED-10 @LIFE-01
    Scenario: Scheduling may fail while the partition of its key is down
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And everything was received and completed
      And the partition that took it is down
      When a message with PartitionKey "a" is scheduled in 5 seconds
      And the partition is up again
      And 5 seconds pass
      Then it comes if it was scheduled, and otherwise never

    @SCHED-10 @LIFE-01
    Scenario: Scheduling may fail while any partition is down where there is no key
      Given a partitioned queue
      And 1 partitions are down
      When a message without key is scheduled in 5 seconds
      And every partition is up again
      And 5 seconds pass
      Then it comes if it was scheduled, and otherwise never

    @SCHED-11
    Scenario: An outage delays it at most
      Given a partitioned queue
      And a message with PartitionKey "a" was scheduled in 5 seconds
      When every partition goes down
      And 5 seconds pass
      And every partition is up again
      And 1 message is awaited
      Then exactly 1 message was received
      And a receive finds nothing

    @SCHED-15 @TXN-12
    Scenario: Scheduled in a transaction, it comes with the commit
      Given a partitioned queue
      And a transaction
      When a message with PartitionKey "a" is scheduled in the transaction in 5 seconds
      And the transaction is committed
      And 5 seconds pass
      Then it comes if it was scheduled, and otherwise never

    @SCHED-15 @TXN-13
    Scenario: What was rolled back never comes
      Given a partitioned queue
      And a transaction
      When a message with PartitionKey "a" is scheduled in the transaction in 5 seconds
      And the transaction is rolled back
      And 5 seconds pass
      Then it is accepted
      And a receive finds nothing
