Feature: Partitions, outages and front ends
  Each partition has a broker and a messaging store of its own. An outage affects what is in its
  partition and nothing else. A front end asks all partitions, returns the message that comes first
  and caches the others; a peek is answered by one of them.

  Rule: What is not partitioned has a single store

    @PART-01
    Scenario Outline: While its store is down, a regular queue takes nothing
      Given a regular queue
      And its only store is down
      When a message <carried> is sent
      Then it is refused
      When its only store is up again
      Then a receive finds nothing

      Examples:
        | carried                           |
        | without key                       |
        | with PartitionKey "a"             |
        | with SessionId "a"                |
        | with MessageId "x"                |

    @PART-01
    Scenario: Nor does it give what it holds, until its store is up again
      Given a regular queue
      And 3 messages without key were sent
      When its only store goes down
      And a receive is tried
      Then exactly 0 messages were received
      When its only store is up again
      And everything is received and completed
      Then exactly 3 messages were received

    @PART-01 @TOPIC-10
    Scenario Outline: While its store is down, a regular topic takes nothing and its subscription gives nothing
      Given a regular topic
      And subscription "one"
      And a message with Label "before" was sent
      And its only store is down
      When a message <carried> is sent
      Then it is refused
      When receivers turn to subscription "one"
      And a receive is tried
      Then exactly 0 messages were received
      When senders turn to the topic
      And its only store is up again
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "before"

      Examples:
        | carried               |
        | without key           |
        | with PartitionKey "a" |

  Rule: An outage concerns one partition

    @PART-02
    Scenario: The keys of all other partitions are accepted as before
      Given a partitioned queue
      And 40 messages with PartitionKey each its own were sent
      And the partition that took it is down
      Then only the keys of the partition that is down are refused

    @PART-02
    Scenario: Exactly one partition's outage stops a key, however often there are outages
      Given a partitioned queue
      When a message with PartitionKey "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused
      When a message with PartitionKey "b" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused

    @PART-02
    Scenario: What the other partitions hold stays where it is
      Given a partitioned queue
      And 40 messages with PartitionKey each its own were sent
      And 8 partitions are down
      When every partition is up again
      And everything is received and completed
      Then exactly 40 messages were received

    @PART-03
    Scenario Outline: With every partition down, nothing is accepted
      Given a partitioned queue
      And every partition is down
      When a message <carried> is sent
      Then it is refused
      When every partition is up again
      Then a receive finds nothing

      Examples:
        | carried                           |
        | without key                       |
        | with PartitionKey "a"             |
        | with SessionId "a"                |
        | with MessageId "x"                |

    @PART-04
    Scenario: What was accepted outlasts outages, and is received once
      Given a partitioned queue
      And 48 messages with PartitionKey each its own were sent
      When every partition is down for a while
      And every partition is down for a while
      And everything is received and completed
      Then exactly 48 messages were received
      And a receive finds nothing

    @PART-04
    Scenario: So does what somebody had locked
      Given a partitioned queue with locks of 5 seconds
      And a message without key was sent
      When a message is received and kept
      And every partition is down for a while
      And 5 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

    @PART-05
    Scenario Outline: Another entity takes and gives messages meanwhile
      Given a partitioned queue
      And another <kind> queue
      And a message <carried> was sent to the other one
      And every partition is down
      When a message <carried> is sent to the other one
      Then it is accepted
      And the other one gives exactly 2 messages

      Examples:
        | kind        | carried               |
        | partitioned | without key           |
        | partitioned | with PartitionKey "a" |
        | regular     | without key           |

  Rule: A front end gives what it has cached

    @PART-09
    Scenario: On one connection everything comes in the end, each message once
      Given a partitioned queue
      And 40 messages without key were sent
      When each message is received and completed
      Then a receive finds nothing

    @PART-09
    Scenario: What is kept locked does not keep the others back
      Given a partitioned queue
      And 40 messages without key were sent
      When a message is received and kept
      And everything is received and completed
      Then exactly 39 messages were received

    @PART-25
    Scenario Outline: Over one HTTP connection everything comes in the end
      Given a partitioned queue
      And 40 messages <carried> were sent
      When each message is received and completed
      Then a receive finds nothing

      Examples:
        | carried                       |
        | without key                   |
        | with PartitionKey "a"         |
        | with PartitionKey each its own |

    @PART-13
    Scenario Outline: A receiver that prefetches is given what it has room for, each message once
      Given a partitioned queue
      And 12 messages <carried> were sent
      When up to 5 messages are received at once and kept
      Then at most 5 messages are kept
      When up to 5 messages are received at once and completed, to the end
      Then a receive finds nothing

      Examples:
        | carried                       |
        | without key                   |
        | with PartitionKey "a"         |

    @PART-23
    Scenario: With few messages, receives are repeated until all have come
      Given a partitioned queue
      And 2 messages without key were sent
      When everything is received and completed
      Then exactly 2 messages were received

    @PART-10
    Scenario: What one connection has locked is given to no other
      Given a partitioned queue
      And 24 messages without key were sent
      When 6 messages are received and kept
      Then 24 receives over another connection give none of them

    @PART-11
    Scenario: Another connection may be given other messages, or none
      Given a partitioned queue
      And 24 messages without key were sent
      When 2 messages are received and kept
      Then 3 receives over another connection give none of them

    @PART-28
    Scenario: What was deleted into a cache may never be seen by another connection
      Given a partitioned queue with locks of 5 seconds
      And 24 messages without key were sent
      When a message is received and deleted
      And 5 seconds pass
      And everything is received over another connection and completed
      Then at most 23 messages were received

    @PART-12
    Scenario Outline: Messages of every partition are settled by their locks alone
      Given a partitioned queue
      And 48 messages without key were sent
      When all messages are received and kept
      And each of them, the latest first, is <settled>
      Then all of them are accepted

      Examples:
        | settled       |
        | completed     |
        | abandoned     |
        | deferred      |
        | dead-lettered |
        | renewed       |

    @PART-12
    Scenario: However many were settled before
      Given a partitioned queue
      And 128 messages without key were sent
      When each message is received and completed
      Then a receive finds nothing

  Rule: A peek begins with the oldest message of whoever answers

    @PART-14
    Scenario Outline: A peek into a regular queue shows the oldest message
      Given a regular queue
      And 10 messages <carried> were sent
      When up to 1 message is peeked
      Then the message shown is number 1 of those that were sent

      Examples:
        | carried                          |
        | without key                      |
        | with PartitionKey each its own   |

    @PART-14
    Scenario: Though somebody has locked it
      Given a regular queue
      And 3 messages without key were sent
      When a message is received and kept
      And up to 1 message is peeked
      Then the message shown is number 1 of those that were sent

    @PART-15
    Scenario Outline: A peek into a partitioned queue begins with the oldest of one partition
      Given a partitioned queue
      And 64 messages <carried> were sent
      When up to 1 message is peeked, 12 times
      Then each message shown is the oldest of its partition

      Examples:
        | carried                        |
        | without key                    |
        | with PartitionKey "a"          |
        | with PartitionKey each its own |

    @PART-16 @PART-21
    Scenario Outline: It need not be the oldest of all, and may be none
      Given a partitioned queue
      And <number> messages without key were sent
      When up to 1 message is peeked, 12 times
      Then each message shown is one of those that were sent

      Examples:
        | number |
        | 1      |
        | 4      |
        | 40     |

    @PART-19
    Scenario Outline: A peek shows no more than it was asked for
      Given a <kind> queue
      And 12 messages with PartitionKey "a" were sent
      When up to <number> messages are peeked
      Then at most <number> messages are shown

      Examples:
        | kind        | number |
        | partitioned | 1      |
        | partitioned | 5      |
        | regular     | 5      |

    @PART-18
    Scenario: It may show fewer, because its partition has no more
      Given a partitioned queue
      And 40 messages without key were sent
      When up to 40 messages are peeked
      Then at most 40 messages are shown

    @PART-17
    Scenario Outline: It may show fewer, because more would be too large
      Given a <kind> queue
      And 6 messages with a body of 100000 bytes were sent
      When up to 6 messages are peeked
      Then at most 6 messages are shown

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @PART-20
    Scenario Outline: Whoever peeks on sees every message in the end
      Given a <kind> queue
      And 40 messages without key were sent
      When they are peeked at, <count> at a time, each time from behind the last
      Then every message that was sent was shown

      Examples:
        | kind        | count |
        | partitioned | 1     |
        | partitioned | 7     |
        | regular     | 1     |
        | regular     | 7     |

    @PART-20 @LIFE-07
    Scenario Outline: Peeking on shows a locked message, too
      Given a <kind> queue
      And 10 messages without key were sent
      When a message is received and kept
      And they are peeked at, 3 at a time, each time from behind the last
      Then every message that was sent was shown

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A peek into a subscription or among dead letters begins as one into a queue

    @PART-14 @TOPIC-20
    Scenario Outline: A peek into a regular topic's subscription shows the oldest message
      Given a regular topic
      And subscription "one"
      And 5 messages <carried> were sent
      When receivers turn to subscription "one"
      And up to 1 message is peeked
      Then the message shown is number 1 of those that were sent

      Examples:
        | carried                        |
        | without key                    |
        | with PartitionKey each its own |

    @PART-14 @DLQ-07
    Scenario: A peek among a regular queue's dead letters shows the oldest
      Given a regular queue
      And a message without key was sent
      When a message is received and dead-lettered because of "first"
      And a message without key is sent
      And a message is received and dead-lettered because of "second"
      And receivers turn to its dead letters
      And up to 1 message is peeked
      Then the message shown is number 1 of those that were sent

    @PART-15 @PART-19 @TOPIC-20
    Scenario Outline: A peek into a partitioned topic's subscription begins with the oldest of a partition
      Given a partitioned topic
      And subscription "one"
      And 8 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And up to <number> messages are peeked
      Then at most <number> messages are shown
      And the first of them, if there is one, is number 1 of those that were sent

      Examples:
        | number |
        | 1      |
        | 5      |

    @LIFE-13 @TOPIC-20
    Scenario: Messages of a subscription that a front end holds in its cache come to another connection later
      Given a partitioned topic
      And subscription "one" with locks of 5 seconds
      And 32 messages without key were sent
      When receivers turn to subscription "one"
      And a message is received and kept
      And 5 seconds pass
      And 5 seconds pass
      And everything is received over another connection and completed
      Then exactly 32 messages were received by then
