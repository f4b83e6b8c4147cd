Feature: Late effects, changed settings and refused requests
  A bus that handles the first message correctly must handle the hundredth correctly. An update
  changes the settings that it names, and no message that is held; a refusal changes nothing at all;
  counts show what is there.

  Rule: The hundredth is as the first

    @FWD-14
    Scenario Outline: Of many messages that are forwarded none is lost and none comes twice
      Given a <kind> destination "end"
      And a <kind> source of "end"
      When 130 messages <carried> are sent
      And receivers turn to "end"
      And messages are awaited until there are 130
      Then exactly 130 messages were received

      Examples:
        | kind        | carried               |
        | partitioned | with PartitionKey "a" |
        | partitioned | without key           |
        | regular     | with PartitionKey "a" |

    @LIFE-09
    Scenario Outline: Of many messages none is lost and none comes twice
      Given a <kind> queue
      And <number> messages <carried> were sent
      When everything is received and completed
      Then exactly <number> messages were received

      Examples:
        | kind        | number | carried                        |
        | partitioned | 170    | with PartitionKey "a"          |
        | partitioned | 300    | without key                    |
        | partitioned | 170    | with PartitionKey each its own |
        | regular     | 170    | without key                    |

    @TTL-02
    Scenario Outline: Of many messages with a time to live none ends before its time
      Given a <kind> queue with a time to live of 3600 seconds
      And 130 messages with PartitionKey "a" were sent
      When 600 seconds pass
      And everything is received and completed
      Then exactly 130 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @KEY-17
    Scenario Outline: Many messages of one key come in order
      Given a partitioned queue
      And 130 messages with <property> "a" were sent
      When everything is received and completed
      Then exactly 130 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | property     |
        | PartitionKey |
        | SessionId    |

    @SESS-05
    Scenario Outline: Many messages of one session come in order
      Given a <kind> queue that requires sessions
      And 130 messages with SessionId "s" were sent
      When session "s" is accepted
      And everything of session "s" is received and completed
      Then exactly 130 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @PART-12
    Scenario: Many messages are locked side by side, and each is settled
      Given a partitioned queue
      And 120 messages without key were sent
      When all messages are received and kept
      And each of them, the latest first, is completed
      Then all of them are accepted
      And a receive finds nothing

    @TOPIC-01
    Scenario: A subscription gets each of many messages
      Given a partitioned topic
      And subscription "one"
      And 120 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 120 messages were received

    @DLQ-05
    Scenario Outline: Many dead letters are all there
      Given a <kind> queue
      And 110 messages with PartitionKey "a" were sent
      When each message is received and dead-lettered
      And everything among its dead letters is received and completed
      Then exactly 110 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-02
    Scenario: Many deferred messages are all received by their numbers
      Given a partitioned queue
      And 110 messages with PartitionKey "a" were sent
      When each message is received and deferred
      And each of them is received by its number and completed
      Then exactly 110 messages were received

    @SCHED-02
    Scenario: Many scheduled messages all come
      Given a partitioned queue
      And 110 messages with PartitionKey "a" were scheduled in 5 seconds
      When 5 seconds pass
      And 110 messages are awaited
      Then exactly 110 messages were received

    @SCHED-04
    Scenario: Many cancellations all hold
      Given a partitioned queue
      And 110 messages with PartitionKey "a" were scheduled in 5 seconds
      When each of them is cancelled
      And 5 seconds pass
      Then a receive finds nothing

    @DUP-01
    Scenario: A copy of the first of many messages is still a copy
      Given a partitioned queue with duplicate detection
      And a message with MessageId "x" was sent
      And 110 messages with MessageId each its own were sent
      When a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 111 messages were received

    @BATCH-01
    Scenario: A large batch arrives whole
      Given a partitioned queue
      And 100 messages with PartitionKey "a" were sent at once
      When everything is received and completed
      Then exactly 100 messages were received

    @TXN-12
    Scenario Outline: A transaction of a hundred messages arrives whole
      Given a <kind> queue
      And a transaction
      And 100 messages with PartitionKey "a" were sent in the transaction
      When the transaction is committed
      And everything is received and completed
      Then exactly 100 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-01
    Scenario: The hundredth delivery is counted as the first
      Given a partitioned queue with 120 deliveries
      And a message with PartitionKey "a" was sent
      When one message is received and abandoned, 109 times
      And a message is received and kept
      Then it is delivery 110

    @LOCK-04
    Scenario: The hundredth renewal keeps a lock as the first
      Given a partitioned queue with locks of 20 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And its lock is renewed 110 times, 12 seconds apart
      And the message kept is completed
      Then it is accepted

    @SESS-06
    Scenario: Of many sessions each is given once
      Given a partitioned queue that requires sessions
      And messages with 110 SessionIds were sent in turn, 1 of each
      When the next session is accepted 110 times, and what it holds is completed
      Then exactly 110 messages were received

  Rule: A day is as a minute

    @LIFE-09
    Scenario Outline: A message waits as long as nobody asks for it
      Given a <kind> queue
      And 3 messages with PartitionKey "a" were sent
      When <number> hours pass
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        | number |
        | partitioned | 1      |
        | partitioned | 25     |
        | regular     | 1      |
        | regular     | 25     |
        | partitioned | 800    |
        | regular     | 800    |

    @DEFER-02
    Scenario Outline: A deferred message has its number after hours
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When a message is received and deferred
      And <number> hours pass
      And it is tried by its number
      Then it is accepted

      Examples:
        | kind        | number |
        | partitioned | 1      |
        | regular     | 25     |
        | partitioned | 800    |
        | regular     | 800    |

    @DLQ-05
    Scenario Outline: A dead letter stays for hours
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were sent
      When each message is received and dead-lettered
      And <number> hours pass
      And everything among its dead letters is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        | number |
        | partitioned | 1      |
        | partitioned | 25     |
        | regular     | 25     |
        | partitioned | 800    |
        | regular     | 800    |

    @SESS-19
    Scenario Outline: The state of a session stays for hours
      Given a <kind> queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And session "s" is given the state "half done"
      And session "s" is closed
      And <number> hours pass
      And session "s" is accepted
      Then the state of session "s" is "half done"

      Examples:
        | kind        | number |
        | partitioned | 1      |
        | partitioned | 25     |
        | regular     | 25     |
        | partitioned | 800    |
        | regular     | 800    |

    @SCHED-02
    Scenario Outline: What is scheduled for tomorrow comes tomorrow
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were scheduled in 90000 seconds
      When 25 hours pass
      And 2 messages are awaited
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-01 @SCHED-02
    Scenario Outline: What is scheduled for a day in the next month comes then and not before
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were scheduled in 2880000 seconds
      When 799 hours pass
      Then a receive finds nothing
      When 1 hours pass
      And 2 messages are awaited
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-02 @TTL-01
    Scenario Outline: A message that may live for a month lives for a month
      Given a <kind> queue
      And a message with PartitionKey "a" was sent that lives for 2880000 seconds
      And a message with PartitionKey "a" was sent that lives for 2880000 seconds
      When 799 hours pass
      And one message is received and completed
      And 1 hours pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-01 @KEY-11
    Scenario Outline: A copy is known for the whole of a window of two days
      Given a <kind> queue with duplicate detection over 172800 seconds
      And a message with MessageId "x" was sent
      When 25 hours pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @KEY-02
    Scenario: A key leads to its partition after a day as before
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      When 25 hours pass
      And a message with PartitionKey "a" is sent
      Then all that were sent are in one partition

  Rule: An update changes what it names, and nothing else

    @MGMT-12
    Scenario Outline: Other settings are reported as before
      Given a <kind> queue with locks of 30 seconds and with 4 deliveries and with a time to live of 300 seconds
      When <update>
      Then it is described as <kind>, <reported>

      Examples:
        | kind        | update                                              | reported                                                                              |
        | partitioned | it is updated to have locks of 20 seconds           | with locks of 20 seconds and with 4 deliveries and with a time to live of 300 seconds |
        | partitioned | it is updated to have a time to live of 200 seconds | with locks of 30 seconds and with 4 deliveries and with a time to live of 200 seconds |
        | partitioned | it is updated to have 7 deliveries                  | with locks of 30 seconds and with 7 deliveries and with a time to live of 300 seconds |
        | partitioned | the queue is disabled                               | with locks of 30 seconds and with 4 deliveries and with a time to live of 300 seconds |
        | regular     | it is updated to have locks of 20 seconds           | with locks of 20 seconds and with 4 deliveries and with a time to live of 300 seconds |
        | regular     | it is updated to have a time to live of 200 seconds | with locks of 30 seconds and with 4 deliveries and with a time to live of 200 seconds |
        | regular     | it is updated to have 7 deliveries                  | with locks of 30 seconds and with 7 deliveries and with a time to live of 300 seconds |

    @MGMT-12
    Scenario Outline: The locks are as before
      Given a partitioned queue with locks of 30 seconds
      When <update>
      And a message with PartitionKey "a" is sent
      And a message is received and kept
      And only 20 of 30 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | update                                              |
        | it is updated to have a time to live of 200 seconds |
        | it is updated to have 7 deliveries                  |

    @MGMT-12
    Scenario Outline: The locks end as before
      Given a partitioned queue with locks of 10 seconds
      When <update>
      And a message with PartitionKey "a" is sent
      And a message is received and kept
      And 10 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | update                                              |
        | it is updated to have a time to live of 200 seconds |
        | it is updated to have 7 deliveries                  |

    @MGMT-12
    Scenario Outline: Messages live as long as before
      Given a partitioned queue with a time to live of 20 seconds
      When <update>
      And a message with PartitionKey "a" is sent
      And 20 seconds pass
      Then a receive finds nothing

      Examples:
        | update                                   |
        | it is updated to have locks of 5 seconds |
        | it is updated to have 7 deliveries       |

    @MGMT-12
    Scenario Outline: What expires is dead-lettered as before
      Given a partitioned queue with a time to live of 20 seconds and that dead-letters expired messages
      When <update>
      And a message with PartitionKey "a" is sent
      And 20 seconds pass
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received

      Examples:
        | update                                             |
        | it is updated to have locks of 5 seconds           |
        | it is updated to have 7 deliveries                 |
        | it is updated to have a time to live of 10 seconds |

    @MGMT-12
    Scenario Outline: Too many deliveries are as many as before
      Given a partitioned queue with 2 deliveries
      When <update>
      And a message with PartitionKey "a" is sent
      And one message is received and abandoned, as often as permitted
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received

      Examples:
        | update                                              |
        | it is updated to have locks of 5 seconds            |
        | it is updated to have a time to live of 200 seconds |

    @MGMT-14
    Scenario Outline: Copies are detected as before
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" was sent
      When <update>
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | update                                              |
        | partitioned | it is updated to have locks of 5 seconds            |
        | partitioned | it is updated to have a time to live of 200 seconds |
        | partitioned | it is updated to have 7 deliveries                  |
        | regular     | it is updated to have locks of 5 seconds            |

    @MGMT-13
    Scenario Outline: Sessions are required as before
      Given a partitioned queue that requires sessions
      When <update>
      Then a receive is refused

      Examples:
        | update                                              |
        | it is updated to have locks of 5 seconds            |
        | it is updated to have a time to live of 200 seconds |
        | it is updated to have 7 deliveries                  |

    @FWD-05
    Scenario Outline: A queue forwards as before
      Given a regular destination "invoices"
      And a partitioned source of "invoices"
      When <update>
      And a message with PartitionKey "a" is sent
      And receivers turn to "invoices"
      And messages are awaited until there is 1
      Then exactly 1 message was received

      Examples:
        | update                                              |
        | it is updated to have locks of 5 seconds            |
        | it is updated to have a time to live of 200 seconds |
        | it is updated to have 7 deliveries                  |

    @FWD-35
    Scenario Outline: Dead letters are forwarded as before
      Given a regular destination "invoices"
      And a partitioned source of dead letters for "invoices"
      When <update>
      And a message with PartitionKey "a" is sent
      And a message is received and dead-lettered because of "unreadable"
      And receivers turn to "invoices"
      And messages are awaited until there is 1
      Then exactly 1 message was received

      Examples:
        | update                                              |
        | it is updated to have locks of 5 seconds            |
        | it is updated to have a time to live of 200 seconds |
        | it is updated to have 7 deliveries                  |

    @MGMT-12
    Scenario Outline: A queue that was disabled is as before when it is active again
      Given a <kind> queue <traits>
      When the queue is <status>
      And the queue is active again
      And a message with PartitionKey "a" is sent
      And <happens>
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it is a dead letter because of "<reason>"

      Examples:
        | kind        | status                 | traits                                                                | happens                                                      | reason                   |
        | partitioned | disabled               | with a time to live of 60 seconds and that dead-letters expired messages | 60 seconds pass                                           | TTLExpiredException      |
        | partitioned | disabled for senders   | with a time to live of 60 seconds and that dead-letters expired messages | 60 seconds pass                                           | TTLExpiredException      |
        | regular     | disabled               | with a time to live of 60 seconds and that dead-letters expired messages | 60 seconds pass                                           | TTLExpiredException      |
        | partitioned | disabled for receivers | with 2 deliveries                                                     | one message is received and abandoned, as often as permitted | MaxDeliveryCountExceeded |
        | regular     | disabled               | with 2 deliveries                                                     | one message is received and abandoned, as often as permitted | MaxDeliveryCountExceeded |

    @MGMT-26
    Scenario Outline: A queue that is disabled stays so
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When the queue is <status>
      And <update>
      And a message with PartitionKey "a" is sent
      Then it is refused because the entity is disabled
      When the queue is active again
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | status               | update                                              |
        | partitioned | disabled             | it is updated to have locks of 5 seconds            |
        | partitioned | disabled             | it is updated to have a time to live of 200 seconds |
        | partitioned | disabled for senders | it is updated to have 7 deliveries                  |
        | regular     | disabled             | it is updated to have locks of 5 seconds            |

    @DUP-01 @KEY-11
    Scenario Outline: A MessageId is known as long as before
      Given a partitioned queue with duplicate detection over 172800 seconds
      When <update>
      And a message with MessageId "x" is sent
      And 25 hours pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | update                                   |
        | it is updated to have locks of 5 seconds |
        | it is updated to have 7 deliveries       |

    @MGMT-27
    Scenario Outline: An update of a topic leaves its subscriptions as they are
      Given a <kind> topic
      And subscription "one" with locks of 30 seconds and with 4 deliveries and with a time to live of 300 seconds
      And a message with PartitionKey "a" was sent
      When subscription "one" is disabled
      And the topic is updated to have a time to live of 200 seconds
      And receivers turn to subscription "one"
      Then a receive is refused because the entity is disabled
      And it is described with a time to live of 300 seconds
      And it is described with locks of 30 seconds
      When subscription "one" is active again
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12
    Scenario Outline: An update of a subscription leaves its other settings as they are
      Given a partitioned topic
      And subscription "one" with locks of 30 seconds and with 2 deliveries and with a time to live of 300 seconds and that dead-letters expired messages
      And subscription "two" with locks of 30 seconds
      When receivers turn to subscription "one"
      And <update>
      Then it is described with <reported>
      When senders turn to the topic
      And a message with PartitionKey "a" is sent
      And receivers turn to subscription "one"
      And 300 seconds pass
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      When receivers turn to subscription "two"
      Then it is described with locks of 30 seconds
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | update                                              | reported                      |
        | it is updated to have locks of 20 seconds           | a time to live of 300 seconds |
        | it is updated to have a time to live of 200 seconds | locks of 30 seconds           |
        | it is updated to have 7 deliveries                  | a time to live of 300 seconds |

    @MGMT-27 @MGMT-26
    Scenario Outline: What is disabled stays so when others are disabled and active again
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      When subscription "one" is disabled
      And the topic is <status>
      And the topic is active again
      And subscription "two" is disabled
      And subscription "two" is active again
      And receivers turn to subscription "one"
      Then a receive is refused because the entity is disabled
      When senders turn to the topic
      And a message with PartitionKey "a" is sent
      Then it is accepted
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | status               |
        | partitioned | disabled             |
        | partitioned | disabled for senders |
        | regular     | disabled             |

    @TOPIC-20 @LOCK-01
    Scenario Outline: Each of several subscriptions locks for as long as it says
      Given a <kind> topic
      And subscription "one" with locks of 10 seconds
      And subscription "two" with locks of 40 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "<name>"
      And a message is received and kept
      And only <held> of <lock> seconds pass
      Then a receive over another connection finds nothing
      When <rest> seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | name | held | lock | rest |
        | partitioned | one  | 5    | 10   | 5    |
        | partitioned | two  | 30   | 40   | 10   |
        | regular     | one  | 5    | 10   | 5    |
        | regular     | two  | 30   | 40   | 10   |

    @TOPIC-20 @DLQ-02 @DLQ-03
    Scenario Outline: Each of several subscriptions permits as many deliveries as it says
      Given a <kind> topic
      And subscription "one" with 2 deliveries
      And subscription "two" with 4 deliveries
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "<name>"
      And one message is received and abandoned, as often as permitted
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received

      Examples:
        | kind        | name |
        | partitioned | one  |
        | partitioned | two  |
        | regular     | one  |
        | regular     | two  |

  Rule: An update takes nothing from what is held

    @MGMT-12
    Scenario Outline: What is there stays there
      Given a <kind> queue
      And 6 messages with PartitionKey "a" were sent
      When <update>
      And everything is received and completed
      Then exactly 6 messages were received

      Examples:
        | kind        | update                                              |
        | partitioned | it is updated to have locks of 5 seconds            |
        | partitioned | it is updated to have a time to live of 200 seconds |
        | partitioned | it is updated to have 7 deliveries                  |
        | regular     | it is updated to have locks of 5 seconds            |

    @LOCK-01
    Scenario Outline: What is locked stays locked as long as it was
      Given a partitioned queue with locks of 30 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And <update>
      And only 10 of 30 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | update                                              |
        | it is updated to have locks of 5 seconds            |
        | it is updated to have a time to live of 200 seconds |
        | it is updated to have 7 deliveries                  |

    @LOCK-01
    Scenario: A lock does not grow longer after the fact
      Given a partitioned queue with locks of 5 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And it is updated to have locks of 60 seconds
      And 6 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

    @DLQ-01
    Scenario Outline: Deliveries are counted on
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      When one message is received and abandoned, 2 times
      And <update>
      And a message is received and kept
      Then it is delivery 3

      Examples:
        | update                                              |
        | it is updated to have locks of 5 seconds            |
        | it is updated to have a time to live of 200 seconds |
        | it is updated to have 7 deliveries                  |

    @DEFER-02
    Scenario Outline: What is deferred can be received by its number
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      When a message is received and deferred
      And <update>
      And it is tried by its number
      Then it is accepted

      Examples:
        | update                                              |
        | it is updated to have locks of 5 seconds            |
        | it is updated to have a time to live of 200 seconds |

    @SCHED-02
    Scenario: What is scheduled comes
      Given a partitioned queue
      And a message with PartitionKey "a" was scheduled in 20 seconds
      When it is updated to have locks of 5 seconds
      And 20 seconds pass
      And 1 message is awaited
      Then exactly 1 message was received

    @SCHED-04
    Scenario: What is scheduled can be cancelled
      Given a partitioned queue
      And a message with PartitionKey "a" was scheduled in 20 seconds
      When it is updated to have locks of 5 seconds
      And the scheduled message is cancelled
      Then it is accepted

    @SCHED-11
    Scenario Outline: What is scheduled comes although its queue was <status> when it was due
      Given a <kind> queue
      And a message with PartitionKey "a" was scheduled in 20 seconds
      When the queue is <status>
      And 30 seconds pass
      And the queue is active again
      And 1 message is awaited
      Then exactly 1 message was received

      Examples:
        | kind        | status                 |
        | partitioned | disabled for senders   |
        | partitioned | disabled for receivers |
        | regular     | disabled               |

    @DLQ-05
    Scenario: A dead letter stays where it is
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When it is updated to have locks of 5 seconds
      And everything among its dead letters is received and completed
      Then exactly 1 message was received

    @SESS-19
    Scenario Outline: A session has its holder and its state
      Given a <kind> queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And session "s" is given the state "half"
      And it is updated to have locks of 30 seconds
      Then the state of session "s" is "half"
      When everything of session "s" is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-27
    Scenario: What was there when a queue was disabled is there when it is active again
      Given a partitioned queue
      And 4 messages with PartitionKey "a" were sent
      When the queue is disabled
      And the queue is active again
      And everything is received and completed
      Then exactly 4 messages were received

  Rule: A refusal changes nothing

    @MGMT-04 @LOCK-01
    Scenario: An update to the other option leaves messages, locks and settings as they are
      Given a partitioned queue with locks of 5 minutes and with 4 deliveries
      And 2 messages with PartitionKey "a" were sent
      When a message is received and kept
      And it is updated to be regular
      Then it is accepted or refused
      And it is described as partitioned, with locks of 5 minutes and with 4 deliveries
      When the message kept is completed
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

    @MGMT-13
    Scenario Outline: An update to require no sessions leaves the session as it is
      Given a <kind> queue that requires sessions and with locks of 5 minutes
      And 2 messages with SessionId "s" were sent
      When session "s" is accepted
      And session "s" is given the state "half"
      And it is updated to require no sessions
      Then it is accepted or refused
      And the state of session "s" is "half"
      When everything of session "s" is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-03
    Scenario: Locks that are too long are refused, or last for five minutes
      Given a partitioned queue with locks of 30 seconds
      When it is updated to have locks of 301 seconds
      Then it is described with locks of 300 seconds, or locks of 30 seconds if it was refused

    @MGMT-09
    Scenario Outline: A queue whose name is taken keeps its messages and its settings
      Given a <kind> queue with locks of 30 seconds
      And 3 messages with PartitionKey "a" were sent
      When a partitioned queue with locks of 20 seconds is created
      Then it is refused because it exists already
      And it is described as <kind>, with locks of 30 seconds
      When everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @KEY-08
    Scenario: A message that is refused for its keys never arrives, and the next one does
      Given a partitioned queue
      When a message with SessionId "a" and PartitionKey "b" is sent
      Then it is refused as an invalid operation
      When 2 messages with SessionId "a" are sent
      And everything is received and completed
      Then exactly 2 messages were received

    @DUP-08
    Scenario Outline: A message that is refused makes no copy
      Given a <kind> queue with duplicate detection
      When the queue is disabled for senders
      And a message with MessageId "x" is sent
      Then it is refused
      When the queue is active again
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-06
    Scenario Outline: A settlement with a lost lock is refused, and its message stays
      Given a <kind> queue with locks of 5 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And 6 seconds pass
      And the message kept is <settled>
      Then it is refused
      When everything is received and completed
      Then exactly 1 message was received
      And a receive among its dead letters finds nothing

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | abandoned     |
        | partitioned | deferred      |
        | partitioned | dead-lettered |
        | regular     | dead-lettered |

    @LOCK-05
    Scenario Outline: A lost lock that is renewed stays lost
      Given a <kind> queue with locks of 5 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And 6 seconds pass
      And the lock of the message kept is renewed
      Then it is refused
      When everything is received over another connection and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-06
    Scenario Outline: What was settled cannot be settled again
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And the message kept is <first>
      Then it is accepted
      When the message kept is <again>
      Then it is refused

      Examples:
        | kind        | first         | again         |
        | partitioned | completed     | completed     |
        | partitioned | completed     | abandoned     |
        | partitioned | completed     | dead-lettered |
        | partitioned | abandoned     | completed     |
        | partitioned | dead-lettered | completed     |
        | partitioned | deferred      | completed     |
        | regular     | completed     | completed     |
        | regular     | abandoned     | dead-lettered |

    @LIFE-10
    Scenario: Who is refused a session takes nothing from its holder
      Given a partitioned queue that requires sessions
      And 2 messages with SessionId "s" were sent
      When session "s" is accepted
      And session "s" is requested over another connection
      Then it is refused
      When everything of session "s" is received and completed
      Then exactly 2 messages were received

    @SESS-21
    Scenario: Who does not hold a session does not change its state
      Given a partitioned queue that requires sessions
      When session "s" is accepted
      And session "s" is given the state "mine"
      And session "s" is given the state "yours" over another connection
      Then it is refused
      And the state of session "s" is "mine"

    @LOCK-05
    Scenario Outline: A renewal that is refused leaves the lock of the other receiver
      Given a <kind> queue with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And 10 seconds pass
      And it is received over another connection
      And the lock of the message kept is renewed
      Then it is refused
      And a receive finds nothing
      And the other receiver can complete it

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-06
    Scenario Outline: A settlement that is refused leaves the lock of the other receiver
      Given a <kind> queue with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      When a message is received and kept
      And 10 seconds pass
      And it is received over another connection
      And the message kept is <settled>
      Then it is refused
      And a receive finds nothing
      And the other receiver can complete it

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | abandoned     |
        | partitioned | deferred      |
        | partitioned | dead-lettered |
        | regular     | abandoned     |

    @SESS-11 @LIFE-10
    Scenario Outline: Who is refused a session does not make its lock longer
      Given a <kind> queue with locks of 30 seconds and that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And only 20 of 30 seconds pass
      And session "s" is requested over another connection
      Then it is refused
      When 15 seconds pass
      And session "s" is requested over another connection
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-05
    Scenario Outline: A cancellation that comes too late cancels nothing else
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were scheduled in 20 seconds
      And a message with PartitionKey "a" was scheduled in 20 seconds
      When the scheduled message is cancelled
      And the scheduled message is cancelled
      Then it is accepted or refused
      When 20 seconds pass
      And 2 messages are awaited
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-08 @BATCH-02
    Scenario: A batch that is refused makes no copies
      Given a partitioned queue with duplicate detection and that requires sessions
      When a message with MessageId "x" and SessionId "s" and one with SessionId "s" and PartitionKey "a" are sent at once
      Then it is refused
      When a message with MessageId "x" and SessionId "s" is sent
      And session "s" is accepted
      And everything of session "s" is received and completed
      Then exactly 1 message was received

    @MGMT-04
    Scenario Outline: Nothing of an update that is refused is in force
      Given a <kind> queue with 4 deliveries and with locks of 30 seconds
      When c1 asks: Update queue, queue "orders", lock duration 301000000, max delivery count 2, time to live 5000000
      Then it is described as <kind>, with 4 deliveries and with locks of 30 seconds
      When a message with PartitionKey "a" is sent
      And one message is received and abandoned, 3 times
      And 5 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-05
    Scenario: A cancellation that comes too late takes nothing away
      Given a partitioned queue
      And a message with PartitionKey "a" was scheduled in 5 seconds
      And a message with PartitionKey "a" was sent
      When 5 seconds pass
      And 2 messages are awaited
      Then exactly 2 messages were received

    @DEFER-03
    Scenario: A number that is refused takes nothing away
      Given a partitioned queue
      And 2 messages with PartitionKey "a" were sent
      When a message is received and kept
      And the message kept is tried by its number
      Then it is refused
      When the message kept is completed
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

    @TXN-04
    Scenario: Nothing of a second key that was refused ever arrives
      Given a partitioned queue
      And a transaction
      And 2 messages with PartitionKey "a" were sent in the transaction
      When a message with PartitionKey "b" is sent in the transaction
      Then it is refused as an invalid operation
      When the transaction is rolled back, if it can be
      Then a receive finds nothing

    @BATCH-02
    Scenario: A batch that is refused lets nothing of it arrive, and the next one is whole
      Given a partitioned queue that requires sessions
      When a message with SessionId "s" and one with SessionId "s" and PartitionKey "a" are sent at once
      Then it is refused
      When 3 messages with SessionId "s" are sent at once
      And session "s" is accepted
      And everything of session "s" is received and completed
      Then exactly 3 messages were received

  Rule: What is counted is what is there

    @MGMT-20
    Scenario Outline: Messages that are locked or deferred are counted, and those that have gone are not
      Given a <kind> queue with locks of 5 minutes
      And 6 messages with PartitionKey "a" were sent
      When a message is received and kept
      Then in the end it is described with 6 messages
      When the message kept is completed
      Then in the end it is described with 5 messages
      When a message is received and deferred
      Then in the end it is described with 5 messages
      When a message is received and dead-lettered because of "unreadable"
      Then in the end it is described with 4 messages
      When a message is received and deleted
      Then in the end it is described with 3 messages
      When one message is received and abandoned
      Then in the end it is described with 3 messages
      When everything is received and completed
      Then in the end it is described with 1 message

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-20
    Scenario: Messages of a session are counted
      Given a partitioned queue that requires sessions
      And 3 messages with SessionId "s" were sent
      And 2 messages with SessionId "t" were sent
      Then in the end it is described with 5 messages
      When session "s" is accepted
      And everything of session "s" is received and completed
      Then in the end it is described with 2 messages

    @DLQ-05 @DLQ-14
    Scenario Outline: A message of a session that is dead-lettered is in its queue no more
      Given a <kind> queue that requires sessions
      And 3 messages with SessionId "s" were sent
      When session "s" is accepted
      And a message of session "s" is received and kept
      And the message kept is dead-lettered
      Then in the end it is described with 2 messages
      When everything of session "s" is received and completed
      Then exactly 2 messages were received
      When everything among its dead letters is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-20
    Scenario Outline: A message of a session that is received and deleted is counted no more
      Given a <kind> queue that requires sessions
      And 3 messages with SessionId "s" were sent
      When session "s" is accepted
      And c1 asks: Receive, queue "orders", mode "receive-and-delete", session id "s"
      Then in the end it is described with 2 messages

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-20
    Scenario: What is sent in a transaction is counted from its commit
      Given a partitioned queue
      And a transaction
      And 3 messages with PartitionKey "a" were sent in the transaction
      Then in the end it is described with 0 messages
      When the transaction is committed
      Then in the end it is described with 3 messages

    @MGMT-20
    Scenario: A batch and a copy are counted as what arrived
      Given a partitioned queue with duplicate detection
      And a message with MessageId "x" was sent
      And a message with MessageId "x" was sent
      And 3 messages with MessageId each its own and PartitionKey "a" were sent at once
      Then in the end it is described with 4 messages

    @MGMT-20
    Scenario: Each subscription counts its own copies
      Given a partitioned topic
      And subscription "one"
      And subscription "two" that takes messages with Label "x"
      And a message with PartitionKey "a" and Label "x" was sent
      And 2 messages with PartitionKey "a" and Label "y" were sent
      When receivers turn to subscription "one"
      Then in the end it is described with 3 messages
      When receivers turn to subscription "two"
      Then in the end it is described with 1 message

    @MGMT-20 @MGMT-22
    Scenario: After an outage everything is counted again
      Given a partitioned queue
      And 20 messages with PartitionKey each its own were sent
      When every partition is down for a while
      Then in the end it is described with 20 messages

  Rule: What is right for a message alone is right in a batch

    @SEQ-01
    Scenario: Messages of a batch have numbers of their own that rise
      Given a partitioned queue
      And 10 messages with PartitionKey "a" were sent at once
      When everything is received and completed
      Then exactly 10 messages were received
      And the sequence numbers of all messages differ
      And the sequence numbers of each key rise in the order of sending

    @TTL-03
    Scenario: Messages of a batch live as long as those that are sent alone
      Given a partitioned queue with a time to live of 20 seconds
      And 3 messages with PartitionKey "a" were sent at once
      When 20 seconds pass
      Then a receive finds nothing

    @TTL-04
    Scenario Outline: Messages of a batch live as long as they say themselves
      Given a <kind> queue
      And 3 messages with PartitionKey "a" were sent at once that live for 20 seconds
      When 20 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-04
    Scenario Outline: A message of a transaction lives as long as it says itself
      Given a <kind> queue
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction that lives for 20 seconds
      When the transaction is committed
      And 20 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @BATCH-14 @LOCK-01
    Scenario Outline: Messages that are received together are locked as long as those that come alone
      Given a <kind> queue with locks of 60 seconds
      And 4 messages with PartitionKey "a" were sent
      When up to 4 messages are received at once and kept
      And only 40 of 60 seconds pass
      And each of them is completed
      Then all of them are accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-02
    Scenario: Messages of a batch can be deferred one by one
      Given a partitioned queue
      And 3 messages with PartitionKey "a" were sent at once
      When each message is received and deferred
      Then a receive finds nothing
      When each of them is received by its number and completed
      Then exactly 3 messages were received

    @DLQ-05
    Scenario: Messages of a batch can be dead-lettered one by one
      Given a partitioned queue
      And 3 messages with PartitionKey "a" were sent at once
      When a message is received and dead-lettered because of "unreadable"
      And everything is received and completed
      Then exactly 2 messages were received
      When everything among its dead letters is received and completed
      Then exactly 3 messages were received

    @TOPIC-01
    Scenario: Each message of a batch is filtered by itself
      Given a partitioned topic
      And subscription "one" that takes messages with Label "x"
      And subscription "two"
      When a message with PartitionKey "a" and Label "x" and one with PartitionKey "a" and Label "y" are sent at once
      Then it is accepted
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has Label "x"
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 2 messages were received

    @FWD-01
    Scenario: A batch is forwarded whole and in order
      Given a regular destination "invoices"
      And a partitioned source of "invoices"
      And 5 messages with PartitionKey "a" were sent at once
      When receivers turn to "invoices"
      And messages are awaited until there are 5
      Then exactly 5 messages were received

  Rule: A dead-letter queue is a queue

    @DLQ-07
    Scenario Outline: A dead letter is locked, given again, deferred or peeked as any message
      Given a <kind> queue with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When a message among its dead letters is received and kept
      And a receive among its dead letters is tried
      Then exactly 0 messages were received
      When 10 seconds pass
      And everything among its dead letters is received and completed
      Then exactly 1 message was received
      And a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-07
    Scenario: A dead letter of a queue that requires sessions is received without a session
      Given a partitioned queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And a message of session "s" is received and kept
      And the message kept is dead-lettered
      And everything among its dead letters is received and completed
      Then exactly 1 message was received
      And it has SessionId "s"

    @DLQ-08
    Scenario: A subscription has dead letters of its own
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And a message with PartitionKey "a" and Label "x" was sent
      When receivers turn to subscription "one"
      And a message is received and dead-lettered because of "unreadable"
      Then a receive finds nothing
      When everything among its dead letters is received and completed
      Then exactly 1 message was received
      And it has Label "x"
      When receivers turn to subscription "two"
      Then a receive among its dead letters finds nothing
      When everything is received and completed
      Then exactly 1 message was received

    @DLQ-07 @LOCK-04
    Scenario Outline: The lock of a dead letter is renewed as that of any message
      Given a <kind> queue with locks of 20 seconds
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When receivers turn to its dead letters
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

    @DLQ-07 @DEFER-02
    Scenario Outline: A dead letter is deferred and received by its number as any message
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When receivers turn to its dead letters
      And a message is received and deferred
      Then a receive finds nothing
      When it is tried by its number
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-20
    Scenario Outline: A dead letter is not counted in its queue
      Given a <kind> queue
      And 3 messages with PartitionKey "a" were sent
      When a message is received and dead-lettered because of "unreadable"
      Then in the end it is described with 2 messages
      And in the end it is described with 0 dead letters of transfers

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-07 @MGMT-20
    Scenario Outline: A dead letter is not counted in its subscription
      Given a <kind> topic
      And subscription "one"
      And 3 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And a message is received and dead-lettered because of "unreadable"
      Then in the end it is described with 2 messages

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A subscription is a queue

    @TOPIC-20 @DLQ-02
    Scenario Outline: A subscription has as many deliveries as it says
      Given a <kind> topic
      And subscription "one" with 2 deliveries
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And one message is received and abandoned, as often as permitted
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it is a dead letter because of "MaxDeliveryCountExceeded"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-07
    Scenario Outline: A subscription dead-letters what expires where it says so
      Given a <kind> topic
      And subscription "one" with a time to live of 20 seconds and that dead-letters expired messages
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And 20 seconds pass
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it is a dead letter because of "TTLExpiredException"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-09
    Scenario: A peek shows a deferred message of a subscription
      Given a regular topic
      And subscription "one"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and deferred
      And messages are peeked
      Then exactly 1 message is shown
      And it is shown as deferred

    @SCHED-02 @FILTER-03
    Scenario Outline: What was scheduled is filtered when it is due
      Given a <kind> topic
      And subscription "one" that takes messages with Label "x"
      And subscription "two"
      And a message with PartitionKey "a" and Label "x" was scheduled in 5 seconds
      And a message with PartitionKey "a" and Label "y" was scheduled in 5 seconds
      When 5 seconds pass
      And receivers turn to subscription "two"
      And 2 messages are awaited
      Then exactly 2 messages were received
      When receivers turn to subscription "one"
      And 1 message is awaited
      And a receive is tried
      Then exactly 1 message was received
      And it has Label "x"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-20
    Scenario Outline: A message of a subscription is locked and given again as in a queue
      Given a <kind> topic
      And subscription "one" with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And one message is received and abandoned
      And a message is received and kept
      Then it is delivery 2
      And a receive over another connection finds nothing
      When 10 seconds pass
      And a message is received and kept
      Then it is delivery 3

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-20
    Scenario: A message of a subscription can be deferred
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and deferred
      Then a receive finds nothing
      When it is tried by its number
      Then it is accepted
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received

  Rule: What is right alone is right in a session, in an outage and beside a transaction

    @TTL-07
    Scenario Outline: What expires in a session becomes a dead letter where its queue says so
      Given a <kind> queue that requires sessions and with a time to live of 20 seconds and that dead-letters expired messages
      And a message with SessionId "s" was sent
      When 20 seconds pass
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it is a dead letter because of "TTLExpiredException"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-08
    Scenario Outline: What expires in a session is dropped elsewhere
      Given a <kind> queue that requires sessions and with a time to live of 20 seconds
      And a message with SessionId "s" was sent
      When 20 seconds pass
      Then a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-07
    Scenario: What expires in an outage becomes a dead letter where its queue says so
      Given a partitioned queue that dead-letters expired messages
      And a message without key was sent that lives for 20 seconds
      When 8 partitions go down
      And 20 seconds pass
      And every partition is up again
      And 20 seconds pass
      And a receive is tried
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received

    @TTL-08
    Scenario: What expires in an outage is no dead letter where its queue does not say so
      Given a partitioned queue
      And 4 messages without key were sent at once that live for 20 seconds
      When 8 partitions go down
      And 20 seconds pass
      And every partition is up again
      And 20 seconds pass
      Then a receive among its dead letters finds nothing
      And a receive finds nothing

    @TTL-07
    Scenario Outline: What expires after an outage becomes a dead letter where its queue says so
      Given a partitioned queue <traits>
      And a message with PartitionKey "a" was sent that lives for 20 seconds
      When every partition is down for a while
      And 20 seconds pass
      And a receive is tried
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received

      Examples:
        | traits                                                                |
        | that dead-letters expired messages                                    |
        | with a time to live of 60 seconds and that dead-letters expired messages |

    @TTL-08
    Scenario: What expires after an outage is dropped elsewhere
      Given a partitioned queue
      And a message with PartitionKey "a" was sent that lives for 20 seconds
      When every partition is down for a while
      And 20 seconds pass
      Then a receive finds nothing
      And a receive among its dead letters finds nothing

    @TTL-01
    Scenario Outline: What expires while a transaction is open is given to nobody
      Given a <kind> queue
      And a message with PartitionKey "a" was sent that lives for 20 seconds
      And a transaction
      When a message with PartitionKey "a" is sent in the transaction
      And 20 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-09
    Scenario Outline: A dead letter outlives the time that its message had
      Given a <kind> queue with a time to live of 60 seconds
      And a message with PartitionKey "a" was sent that lives for 20 seconds
      When a message is received and dead-lettered because of "unreadable"
      And 120 seconds pass
      And everything among its dead letters is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-06
    Scenario: What is too large cannot be scheduled in an outage
      Given a partitioned queue
      And 8 partitions are down
      When a message with a body larger than the tier takes is scheduled in 1 second
      Then it is refused

    @SESS-06
    Scenario Outline: The next session that was accepted gives its messages
      Given a <kind> queue that requires sessions
      And 2 messages with SessionId "s" were sent
      When the next session is accepted
      And everything of session "s" is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-12 @LOCK-11
    Scenario Outline: A settlement that is committed after an outage holds
      Given a <kind> queue with locks of 20 seconds
      And 2 messages with PartitionKey "a" were sent
      And a transaction
      When the partition that took the first message goes down
      And the partition is up again
      And a message is received and kept
      And the message kept is <settled> in the transaction
      And the transaction is committed
      And 20 seconds pass
      And everything is received and completed
      Then exactly <left> messages were received

      Examples:
        | kind        | settled       | left |
        | partitioned | completed     | 1    |
        | partitioned | dead-lettered | 1    |
        | partitioned | deferred      | 1    |
        | partitioned | abandoned     | 2    |
        | regular     | completed     | 1    |

    @TXN-12
    Scenario Outline: A transaction that was committed takes nothing more
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message with PartitionKey "a" is sent in the transaction
      And the transaction is committed
      And a message is received and kept
      And the message kept is completed in the transaction
      Then it is refused
      When a message with PartitionKey "a" is sent in the transaction
      Then it is refused
      When the message kept is completed
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TXN-13 @LOCK-12
    Scenario Outline: A transaction outlives the message that it was to settle
      Given a <kind> queue with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is completed in the transaction
      And a message with PartitionKey "a" is sent in the transaction
      And 10 seconds pass
      And a receive is tried
      And the transaction is rolled back, if it can be
      And 60 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-23
    Scenario Outline: A peek in a session shows that session, whatever else is open
      Given a <kind> queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 3 of each
      And a transaction
      When session "b" is accepted
      And messages of session "b" are peeked
      Then each message shown has SessionId "b"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-07
    Scenario: A request of a later api-version creates a partitioned topic, whatever else is open
      Given an empty namespace
      And a transaction
      When a partitioned topic is created by a request of api-version 2021-05
      Then it is accepted

    @PART-02
    Scenario Outline: A partition that is up takes what it is sent in an outage of another
      Given a partitioned queue
      And a key "b" in another partition than "a"
      And a message with PartitionKey "a" was sent
      When the partition that took the first message goes down
      And <sent>
      Then it is accepted
      When the partition is up again
      And everything is received and completed
      Then exactly <received> messages were received

      Examples:
        | sent                                              | received |
        | a message with PartitionKey "b" is sent           | 2        |
        | 2 messages with PartitionKey "b" are sent at once | 3        |

    @TXN-12 @PART-02
    Scenario Outline: A transaction of a partition that is up is committed in an outage of another
      Given a partitioned queue
      And a key "b" in another partition than "a"
      And a message with PartitionKey "a" was sent
      And a transaction
      When <first>
      And <then>
      And the transaction is committed
      And the partition is up again
      And everything is received and completed
      Then exactly 3 messages were received

      Examples:
        | first                                                                | then                                                         |
        | 2 messages with PartitionKey "b" are sent in the transaction         | the partition that took the first message goes down          |
        | the partition that took the first message goes down                  | 2 messages with PartitionKey "b" are sent in the transaction |
        | 2 messages with PartitionKey "b" are sent at once in the transaction | the partition that took the first message goes down          |

    @BATCH-07
    Scenario: A batch that is too large is refused in an outage, and one that is not is taken
      Given a partitioned queue
      And 8 partitions are down
      When 3 messages with PartitionKey "a" and a body of 100 KB are sent at once
      Then it is refused
      When 3 messages without key are sent at once
      Then it is accepted
      When every partition is up again
      And everything is received and completed
      Then exactly 3 messages were received

    @MGMT-15 @TOPIC-22
    Scenario Outline: What is deleted beside a transaction is gone
      Given a <kind> topic
      And subscription "one"
      And a transaction
      When <deleted>
      Then it is accepted
      When <asked>
      Then it is refused because it is not found

      Examples:
        | kind        | deleted                       | asked                                                |
        | partitioned | the topic is deleted          | a message without key is sent                        |
        | partitioned | the topic is deleted          | a request to receive from subscription "one" is made |
        | partitioned | subscription "one" is deleted | a request to receive from subscription "one" is made |
        | regular     | the topic is deleted          | a message without key is sent                        |
        | regular     | subscription "one" is deleted | a request to receive from subscription "one" is made |

    @MGMT-15
    Scenario Outline: A queue that is deleted beside a transaction is gone
      Given a <kind> queue
      And a transaction
      When the queue is deleted
      Then it is accepted
      When a message without key is sent
      Then it is refused because it is not found

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIMIT-18
    Scenario Outline: A name is too long beside a transaction, too
      Given an empty namespace
      And a transaction
      When a <kind> <entity> with a name of 261 characters is created
      Then it is refused
      When a message without key is sent to a name of 261 characters
      Then it is refused because it is not found

      Examples:
        | kind        | entity |
        | partitioned | queue  |
        | regular     | topic  |

    @TOPIC-18
    Scenario: A subscription's name is too long beside a transaction, too
      Given a partitioned topic
      And a transaction
      When a subscription with a name of 51 characters is created
      Then it is refused

    @FILTER-27
    Scenario: A rule's name is too long beside a transaction, too
      Given a partitioned topic
      And subscription "one"
      And a transaction
      When a rule with a name of 51 characters of subscription "one" is added: everything
      Then it is refused

    @LIMIT-04
    Scenario: A key is too long beside a transaction, too
      Given a partitioned queue
      And a transaction
      When a message with PartitionKey of 129 characters is sent
      Then it is refused

    @SESS-08 @SESS-10
    Scenario Outline: A session gives back what it held, whatever else is open
      Given a <kind> queue with locks of 20 seconds and that requires sessions
      And 2 messages with SessionId "s" were sent
      And a transaction
      When session "s" is accepted
      And a message of session "s" is received and kept
      And <ended>
      And session "s" is accepted
      And everything of session "s" is received and completed
      Then exactly 2 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        | ended                 |
        | partitioned | session "s" is closed |
        | partitioned | 20 seconds pass       |
        | regular     | session "s" is closed |
        | regular     | 20 seconds pass       |

  Rule: What is right for the first message is right for the next

    @DUP-01
    Scenario Outline: Each MessageId is forgotten when its window ends
      Given a <kind> queue with duplicate detection over 20 seconds
      And a message with MessageId "x" was sent
      And a message with MessageId "y" was sent
      And a message with MessageId "z" was sent
      When 20 seconds pass
      And a message with MessageId "z" is sent
      And a message with MessageId "y" is sent
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 6 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-07
    Scenario Outline: Each message that expires becomes a dead letter where its queue says so
      Given a <kind> queue with a time to live of 20 seconds and that dead-letters expired messages
      And 3 messages with <key> were sent
      When 20 seconds pass
      And 3 messages among its dead letters are awaited
      Then exactly 3 messages were received

      Examples:
        | kind        | key                        |
        | partitioned | PartitionKey "a"           |
        | partitioned | PartitionKey each its own  |
        | regular     | PartitionKey "a"           |

    @TTL-07
    Scenario: Each message that expires in a subscription becomes a dead letter where it says so
      Given a partitioned topic
      And subscription "one" with a time to live of 20 seconds and that dead-letters expired messages
      And 3 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And 20 seconds pass
      And 3 messages among its dead letters are awaited
      Then exactly 3 messages were received

  Rule: A commit does all that its transaction was asked for

    @LOCK-11
    Scenario Outline: Each settlement of a transaction is done by the commit
      Given a <kind> queue
      And 6 messages with PartitionKey "a" were sent
      And a transaction
      When 6 messages are received and <settled> in the transaction
      And the transaction is committed
      And 60 seconds pass
      And a receive is tried
      Then exactly 0 messages were received

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | dead-lettered |
        | partitioned | deferred      |
        | regular     | completed     |

    @LOCK-11 @TOPIC-20
    Scenario Outline: Settlements in two subscriptions are done by one commit, or refused
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And a message with PartitionKey "a" was sent
      And a transaction
      When receivers turn to subscription "one"
      And a message is received and kept
      And the message kept is completed in the transaction
      And receivers turn to subscription "two"
      And a message is received and kept
      And the message kept is completed in the transaction
      And c1 asks: Commit transaction, transaction "t1"
      And 60 seconds pass
      And a receive is tried
      Then at most 1 message was received
      When receivers turn to subscription "one"
      And a receive is tried
      Then at most 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LOCK-11 @DLQ-07
    Scenario Outline: A dead letter is settled by a commit as any message
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      And a transaction
      When receivers turn to its dead letters
      And a message is received and kept
      And the message kept is <settled> in the transaction
      And the transaction is committed
      And 60 seconds pass
      And a receive is tried
      Then exactly 0 messages were received

      Examples:
        | kind        | settled   |
        | partitioned | completed |
        | partitioned | deferred  |
        | regular     | completed |

    @LOCK-12 @DLQ-07
    Scenario: A dead letter that a transaction did not settle comes again
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      And a transaction
      When receivers turn to its dead letters
      And a message is received and kept
      And the message kept is completed in the transaction
      And the transaction is rolled back
      And 60 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

    @LOCK-11 @DLQ-05
    Scenario Outline: What a commit dead-letters has the reason that was given
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is dead-lettered because of "unreadable" in the transaction
      And the transaction is committed
      And everything among its dead letters is received and completed
      Then exactly 1 message was received
      And it is a dead letter because of "unreadable"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SCHED-15 @TXN-12
    Scenario Outline: Sends, scheduled messages and settlements are done by one commit
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      And a transaction
      When a message is received and kept
      And the message kept is completed in the transaction
      And a message with PartitionKey "a" is sent in the transaction
      And a message with PartitionKey "a" is scheduled in the transaction in 5 seconds
      And the transaction is committed
      And 60 seconds pass
      And 2 messages are awaited
      And a receive is tried
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A delivery counts if it has failed, wherever the message lies

    @DLQ-01
    Scenario Outline: The delivery count of a message grows by failed deliveries only
      Given a <kind> queue with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      When a message is received 3 times, <how> each time
      Then each time its delivery count is <count>

      Examples:
        | kind        | how                 | count          |
        | partitioned | abandoned           | greater by one |
        | partitioned | kept for 10 seconds | greater by one |
        | partitioned | deferred            | the same       |
        | regular     | abandoned           | greater by one |
        | regular     | kept for 10 seconds | greater by one |
        | regular     | deferred            | the same       |

    @DLQ-01 @TOPIC-20
    Scenario Outline: The delivery count of a subscription's message grows by failed deliveries only
      Given a <kind> topic
      And subscription "one" with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received 3 times, <how> each time
      Then each time its delivery count is <count>

      Examples:
        | kind        | how                 | count          |
        | partitioned | abandoned           | greater by one |
        | partitioned | kept for 10 seconds | greater by one |
        | partitioned | deferred            | the same       |
        | regular     | abandoned           | greater by one |
        | regular     | kept for 10 seconds | greater by one |
        | regular     | deferred            | the same       |

    @DLQ-01 @DLQ-07
    Scenario Outline: The delivery count of a dead letter grows by failed deliveries only
      Given a <kind> queue with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When receivers turn to its dead letters
      And a message is received 3 times, <how> each time
      Then each time its delivery count is <count>

      Examples:
        | kind        | how                 | count          |
        | partitioned | abandoned           | greater by one |
        | partitioned | kept for 10 seconds | greater by one |
        | partitioned | deferred            | the same       |
        | regular     | abandoned           | greater by one |
        | regular     | kept for 10 seconds | greater by one |
        | regular     | deferred            | the same       |

    @DLQ-01
    Scenario Outline: The delivery count of a message in a session grows by failed deliveries only
      Given a <kind> queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And a message of session "s" is received 3 times, <how> each time
      Then each time its delivery count is <count>

      Examples:
        | kind        | how       | count          |
        | partitioned | abandoned | greater by one |
        | partitioned | deferred  | the same       |
        | regular     | abandoned | greater by one |
        | regular     | deferred  | the same       |

    @DLQ-01 @LOCK-04
    Scenario Outline: A renewal does not count, and leaves the count as it is
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When one message is received and abandoned
      And a message is received and kept
      And the lock of the message kept is renewed, which succeeds
      And the message kept is abandoned
      And a message is received and kept
      Then it is delivery 3

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: An update of one setting leaves the others, whichever it is

    @MGMT-11 @FWD-05
    Scenario Outline: A queue that is changed to forward has its other settings
      Given a partitioned destination "invoices"
      And a <kind> queue with locks of 20 seconds and with 3 deliveries and with a time to live of 60 seconds
      When the queue is updated to forward to "invoices"
      Then it is described as <kind>, with locks of 20 seconds and with 3 deliveries and with a time to live of 60 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-11 @FWD-05
    Scenario Outline: A source that is changed to forward no more has its other settings
      Given a partitioned destination "invoices"
      And a <kind> source of "invoices" with a time to live of 20 seconds and that dead-letters expired messages
      When the source is updated to forward no more
      And a message without key is sent
      And 20 seconds pass
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it is a dead letter because of "TTLExpiredException"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-07 @MGMT-26
    Scenario Outline: A queue that was disabled for a while dead-letters what expires as before
      Given a <kind> queue with a time to live of 20 seconds and that dead-letters expired messages
      When the queue is <status>
      And the queue is active again
      And a message without key is sent
      And 20 seconds pass
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received

      Examples:
        | kind        | status                 |
        | partitioned | disabled               |
        | partitioned | disabled for senders   |
        | partitioned | disabled for receivers |
        | regular     | disabled               |

    @FWD-03 @MGMT-26
    Scenario Outline: A source that was disabled for a while forwards as before
      Given a partitioned destination "invoices"
      And a <kind> source of "invoices"
      When the queue is disabled
      And the queue is active again
      And a message without key is sent
      And receivers turn to "invoices"
      And messages are awaited until there is 1
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-01 @MGMT-12
    Scenario: A topic whose time to live is updated detects copies as before
      Given a partitioned topic with duplicate detection
      And subscription "one"
      And a message with MessageId "x" was sent
      When the topic is updated to have a time to live of 200 seconds
      And a message with MessageId "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

  Rule: Whatever state a message is in, it is counted

    @MGMT-20
    Scenario Outline: A message of a queue is counted in every state
      Given a <kind> queue with locks of 5 minutes
      And 3 messages with PartitionKey "a" were sent
      When a message is received and <first>
      And <then>
      Then in the end it is described with 3 messages

      Examples:
        | kind        | first    | then                                       |
        | partitioned | kept     | messages are peeked                        |
        | partitioned | kept     | the message kept is abandoned              |
        | partitioned | kept     | the message kept is deferred               |
        | partitioned | deferred | it is received by its number and kept      |
        | partitioned | deferred | it is received by its number and abandoned |
        | regular     | kept     | messages are peeked                        |
        | regular     | kept     | the message kept is abandoned              |
        | regular     | kept     | the message kept is deferred               |
        | regular     | deferred | it is received by its number and kept      |
        | regular     | deferred | it is received by its number and abandoned |

    @MGMT-20 @TOPIC-20
    Scenario Outline: A message of a subscription is counted in every state
      Given a <kind> topic
      And subscription "one" with locks of 5 minutes
      And 3 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And a message is received and <first>
      And <then>
      Then in the end it is described with 3 messages

      Examples:
        | kind        | first    | then                                       |
        | partitioned | kept     | messages are peeked                        |
        | partitioned | kept     | the message kept is abandoned              |
        | partitioned | kept     | the message kept is deferred               |
        | partitioned | deferred | it is received by its number and kept      |
        | partitioned | deferred | it is received by its number and abandoned |
        | regular     | kept     | messages are peeked                        |
        | regular     | kept     | the message kept is abandoned              |
        | regular     | kept     | the message kept is deferred               |
        | regular     | deferred | it is received by its number and kept      |
        | regular     | deferred | it is received by its number and abandoned |

    @MGMT-20 @SESS-05
    Scenario Outline: A message of a session is counted in every state
      Given a <kind> queue with locks of 5 minutes and that requires sessions
      And 3 messages with SessionId "s" were sent
      When session "s" is accepted
      And a message of session "s" is received and kept
      And <then>
      Then in the end it is described with 3 messages

      Examples:
        | kind        | then                          |
        | partitioned | messages are peeked           |
        | partitioned | the message kept is abandoned |
        | partitioned | the message kept is deferred  |
        | partitioned | session "s" is closed         |
        | regular     | messages are peeked           |
        | regular     | the message kept is abandoned |
        | regular     | the message kept is deferred  |
        | regular     | session "s" is closed         |

    @MGMT-20
    Scenario Outline: A message that is scheduled is counted, or it is not
      Given a <kind> queue
      And 2 messages with PartitionKey "a" were sent
      And a message with PartitionKey "a" was scheduled in 3600 seconds
      Then in the end it is described with 2 messages, or 3 messages

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-20
    Scenario Outline: What is received and deleted is counted no more, whatever happens elsewhere
      Given a <kind> queue
      And 3 messages with PartitionKey "a" were sent
      And <elsewhere>
      When a message is received and deleted
      Then in the end it is described with 2 messages
      When a message is received and deleted
      Then in the end it is described with 1 message

      Examples:
        | kind        | elsewhere                             |
        | partitioned | a transaction                         |
        | partitioned | a partition of another queue is down  |
        | partitioned | a partition of another queue was down |
        | regular     | a transaction                         |
        | regular     | a partition of another queue is down  |

  Rule: An outage of a topic leaves what its subscriptions hold

    @PART-04 @TOPIC-20
    Scenario: What is deferred in a subscription is there after an outage
      Given a partitioned topic
      And subscription "one"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and deferred
      And senders turn to the topic
      And every partition is down for a while
      And receivers turn to subscription "one"
      And it is tried by its number
      Then it is accepted
      And a receive finds nothing

    @PART-04 @DLQ-01
    Scenario: Deliveries of a subscription's message count on after an outage
      Given a partitioned topic
      And subscription "one"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And one message is received and abandoned
      And senders turn to the topic
      And every partition is down for a while
      And receivers turn to subscription "one"
      And a message is received and kept
      Then it is delivery 2

    @PART-04 @LOCK-01
    Scenario: What is locked in a subscription is so after an outage
      Given a partitioned topic
      And subscription "one"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and kept
      And senders turn to the topic
      And every partition is down for a while
      And receivers turn to subscription "one"
      Then a receive over another connection finds nothing
      When the message kept is completed
      Then it is accepted

    @PART-04 @DLQ-07
    Scenario: What is deferred among dead letters is there after an outage
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When receivers turn to its dead letters
      And a message is received and deferred
      And receivers turn to "orders"
      And every partition is down for a while
      And receivers turn to its dead letters
      And it is tried by its number
      Then it is accepted

    @PART-04 @DLQ-07
    Scenario: Deliveries of a dead letter count on after an outage
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When receivers turn to its dead letters
      And one message is received and abandoned
      And a message is received and kept
      And receivers turn to "orders"
      And every partition is down for a while
      And receivers turn to its dead letters
      Then a receive over another connection finds nothing
      When the message kept is completed
      Then it is accepted

  Rule: What a subscription refuses changes nothing in it

    @MGMT-13 @TOPIC-20
    Scenario Outline: A refused update of a subscription changes none of its settings
      Given a <kind> topic
      And subscription "one" with locks of 30 seconds and with 4 deliveries and with a time to live of 300 seconds
      When receivers turn to subscription "one"
      And it is updated to require sessions and to have locks of 20 seconds and to have 7 deliveries and to have a time to live of 60 seconds
      And it was refused
      Then it is described with locks of 30 seconds
      And it is described with a time to live of 300 seconds
      When senders turn to the topic
      And a message with PartitionKey "a" is sent
      And receivers turn to subscription "one"
      And one message is received and abandoned, as often as permitted
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-21
    Scenario Outline: A subscription that is created a second time is as before
      Given a <kind> topic
      And subscription "one" with locks of 30 seconds
      And 2 messages with PartitionKey "a" were sent
      When subscription "one" with locks of 10 seconds is created
      Then it is refused because it exists already
      When receivers turn to subscription "one"
      Then it is described with locks of 30 seconds
      When everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-06 @TOPIC-20
    Scenario Outline: A lock of a subscription that is gone is lost
      Given a <kind> topic
      And subscription "one"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and kept
      And the message kept is completed
      And the message kept is <used>
      Then it is refused

      Examples:
        | kind        | used      |
        | partitioned | completed |
        | partitioned | abandoned |
        | regular     | completed |

    @LIFE-06 @DLQ-07
    Scenario Outline: A lock of a dead letter that is gone is lost
      Given a <kind> queue with locks of 10 seconds
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When receivers turn to its dead letters
      And a message is received and kept
      And <gone>
      And the message kept is <used>
      Then it is refused

      Examples:
        | kind        | gone                          | used      |
        | partitioned | the message kept is completed | completed |
        | partitioned | the message kept is completed | abandoned |
        | partitioned | 10 seconds pass               | completed |
        | regular     | the message kept is completed | completed |
        | regular     | 10 seconds pass               | completed |

    @DEFER-03 @TOPIC-20
    Scenario: A number of a subscription's message that is gone names none
      Given a partitioned topic
      And subscription "one"
      And a message with PartitionKey "a" was sent
      When receivers turn to subscription "one"
      And a message is received and deferred
      And it is received by its number and completed
      And it is tried by its number
      Then it is refused

    @FILTER-08 @FILTER-09
    Scenario Outline: A change of rules that is refused leaves the rules that are there
      Given a <kind> topic
      And subscription "one" that takes nothing
      When rule "reds" of subscription "one" is added: messages with Label "red"
      And <changed>
      Then it is refused
      When a message with PartitionKey "a" and Label "red" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | changed                                                                   |
        | partitioned | rule "reds" of subscription "one" is added: messages with Label "blue"    |
        | partitioned | rule "blues" of subscription "one" is removed                             |
        | partitioned | rule "reds" of subscription "one" is added: messages where color = = 'red' |
        | regular     | rule "reds" of subscription "one" is added: messages with Label "blue"    |
        | regular     | rule "blues" of subscription "one" is removed                             |

  Rule: What is refused is refused each time, whatever happens elsewhere

    @LIMIT-13 @LIMIT-14
    Scenario Outline: Properties that are too large are refused each time, whatever happens elsewhere
      Given a <kind> queue
      And <elsewhere>
      When a message with <large> is sent
      Then it is refused
      When a message with <large> is sent
      Then it is refused
      When a message with 2 properties of 7000 bytes each is sent
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | elsewhere                              | large                            |
        | partitioned | a transaction                          | 1 property of 32768 bytes       |
        | partitioned | a partition of another queue is down   | 1 property of 32768 bytes       |
        | partitioned | a partition of another queue was down  | 1 property of 32768 bytes       |
        | partitioned | a transaction                          | 3 properties of 22000 bytes each |
        | partitioned | a partition of another queue is down   | 3 properties of 22000 bytes each |
        | partitioned | a partition of another queue was down  | 3 properties of 22000 bytes each |
        | regular     | a transaction                          | 1 property of 32768 bytes       |
        | regular     | a partition of another queue is down   | 3 properties of 22000 bytes each |

    @TOPIC-19
    Scenario Outline: A queue has no subscriptions, whatever happens elsewhere
      Given a <kind> queue
      And <elsewhere>
      When subscription "one" of topic "orders" is created
      Then it is refused
      When subscription "one" of topic "orders" is created
      Then it is refused

      Examples:
        | kind        | elsewhere                             |
        | partitioned | a transaction                         |
        | partitioned | a partition of another queue is down  |
        | partitioned | a partition of another queue was down |
        | regular     | a transaction                         |
        | regular     | a partition of another queue is down  |

    @MGMT-10
    Scenario Outline: What does not exist is not found the hundredth time
      Given a queue
      When a request to <asked> a queue that does not exist is made 105 times
      Then it is refused because it is not found

      Examples:
        | asked   |
        | get     |
        | send to |
        | delete  |

    @LIMIT-20
    Scenario Outline: A state that is too large is refused each time, whatever happens elsewhere
      Given a <kind> queue that requires sessions
      And <elsewhere>
      When session "a" is accepted
      And session "a" is given the state "before"
      And session "a" is given a state of 262145 characters
      Then it is refused
      When session "a" is given a state of 262145 characters
      Then it is refused
      And the state of session "a" is "before"

      Examples:
        | kind        | elsewhere                             |
        | partitioned | a transaction                         |
        | partitioned | a partition of another queue is down  |
        | partitioned | a partition of another queue was down |
        | regular     | a transaction                         |
        | regular     | a partition of another queue is down  |

    @KEY-08
    Scenario: The hundredth message with keys that differ is refused as the first
      Given a partitioned queue
      And 105 messages with SessionId "a" and PartitionKey "b" were refused
      When a message with SessionId "a" and PartitionKey "b" is sent
      Then it is refused as an invalid operation
      When a message with PartitionKey "b" is sent
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

    @DUP-04
    Scenario: Messages without MessageId are copies of none
      Given a partitioned queue with duplicate detection
      And 2 messages with PartitionKey "a" were sent
      When everything is received and completed
      Then exactly 2 messages were received

  Rule: Whatever happens elsewhere, entities are managed as ever

    @MGMT-10
    Scenario Outline: What does not exist is not found, whatever happens elsewhere
      Given a queue
      And <elsewhere>
      When a request to get a queue that does not exist is made
      Then it is refused because it is not found
      When a request to update a queue that does not exist is made
      Then it is refused because it is not found
      When a request to delete a queue that does not exist is made
      Then it is refused because it is not found
      When a request to send to a queue that does not exist is made
      Then it is refused because it is not found

      Examples:
        | elsewhere                             |
        | a transaction                         |
        | a partition of another queue is down  |
        | a partition of another queue was down |

    @MGMT-10 @TOPIC-19
    Scenario Outline: What no topic has is not found, whatever happens elsewhere
      Given a <kind> topic
      And subscription "one"
      And <elsewhere>
      When a request to get a topic that does not exist is made
      Then it is refused because it is not found
      When a request to update a topic that does not exist is made
      Then it is refused because it is not found
      When a request to delete a topic that does not exist is made
      Then it is refused because it is not found
      When subscription "one" of topic "nowhere" is created
      Then it is refused because it is not found
      When a request to get subscription "two" is made
      Then it is refused because it is not found
      When a request to delete subscription "two" is made
      Then it is refused because it is not found

      Examples:
        | kind        | elsewhere                             |
        | partitioned | a transaction                         |
        | partitioned | a partition of another queue is down  |
        | partitioned | a partition of another queue was down |
        | regular     | a transaction                         |
        | regular     | a partition of another queue is down  |

    @MGMT-10
    Scenario Outline: A rule of a subscription that does not exist is not found, whatever happens elsewhere
      Given a <kind> topic
      And subscription "one"
      And <elsewhere>
      When rule "reds" of subscription "two" is added: messages with Label "red"
      Then it is refused because it is not found
      When rule "reds" of subscription "two" is removed
      Then it is refused because it is not found

      Examples:
        | kind        | elsewhere                             |
        | partitioned | a transaction                         |
        | partitioned | a partition of another queue is down  |
        | partitioned | a partition of another queue was down |
        | regular     | a transaction                         |
        | regular     | a partition of another queue is down  |

    @MGMT-12
    Scenario Outline: Each update is in force, whatever happens elsewhere
      Given a <kind> queue with locks of 30 seconds
      And <elsewhere>
      When it is updated to have locks of 10 seconds
      Then it is accepted
      And it is described with locks of 10 seconds
      When it is updated to have locks of 20 seconds
      Then it is accepted
      And it is described with locks of 20 seconds

      Examples:
        | kind        | elsewhere                             |
        | partitioned | a transaction                         |
        | partitioned | a partition of another queue is down  |
        | partitioned | a partition of another queue was down |
        | regular     | a transaction                         |
        | regular     | a partition of another queue is down  |
        | regular     | a partition of another queue was down |

    @MGMT-12 @TOPIC-20
    Scenario Outline: Each update of a topic and of a subscription is in force, whatever happens elsewhere
      Given a <kind> topic
      And subscription "one" with locks of 30 seconds
      And <elsewhere>
      When the topic is updated to have a time to live of 500 seconds
      Then the topic is described with a time to live of 500 seconds
      When the topic is updated to have a time to live of 700 seconds
      Then the topic is described with a time to live of 700 seconds
      When receivers turn to subscription "one"
      And it is updated to have locks of 10 seconds
      Then it is described with locks of 10 seconds
      When it is updated to have locks of 20 seconds
      Then it is described with locks of 20 seconds

      Examples:
        | kind        | elsewhere                             |
        | partitioned | a transaction                         |
        | partitioned | a partition of another queue is down  |
        | partitioned | a partition of another queue was down |
        | regular     | a transaction                         |
        | regular     | a partition of another queue is down  |
        | regular     | a partition of another queue was down |

    @FWD-29
    Scenario Outline: A destination that does not exist is refused, whatever happens elsewhere
      Given a <kind> queue
      And <elsewhere>
      When a <kind> queue named "source" that forwards to "nowhere" is requested
      Then it is refused
      When a partitioned queue named "source" that forwards its dead letters to "nowhere" is requested
      Then it is refused
      When the queue is updated to forward to "nowhere"
      Then it is refused
      When 4 messages without key are sent
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        | elsewhere                             |
        | partitioned | a transaction                         |
        | partitioned | a partition of another queue is down  |
        | partitioned | a partition of another queue was down |
        | regular     | a transaction                         |
        | regular     | a partition of another queue is down  |

  Rule: Where the documents leave an answer open, each passes

    @FILTER-21
    Scenario: An action that sets a key may be refused
      Given c1 asks: Create topic, topic "events"
      When c1 asks: Create subscription, topic "events", subscription "one"
      And c1 asks: Add rule, topic "events", subscription "one", rule "r", filter type "TrueFilter", action "SET sys.MessageId = 'x'"
      And c1 asks: Send, queue "events", message body "m1"
      And c1 asks: Receive, queue "events/subscriptions/one"
      Then every answer was allowed

    @MGMT-11
    Scenario: A queue is created with a version that is no date, or refused
      Given c1 asks: Create queue, queue "orders", api version "soon"
      When c1 asks: Get queue, queue "orders"
      Then every answer was allowed

    @MGMT-11
    Scenario: What a queue is that is not to be partitioned, is told
      Given c1 asks: Create queue, queue "orders", partitioned false
      When c1 asks: Get queue, queue "orders"
      And c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

    @MGMT-11
    Scenario: What a queue is whose creation does not say so, is told
      Given c1 asks: Create queue, queue "orders", partitioned null
      When c1 asks: Get queue, queue "orders"
      And c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

    @MGMT-11
    Scenario: What a queue is that is to be partitioned, is told
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: Get queue, queue "orders"
      And c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

    @TTL-14
    Scenario: A message that expires in a cache may be handed out
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: Send, queue "orders", message body "m1", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m2", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m3", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m4", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m5", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m6", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m7", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m8", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m9", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m10", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m11", message partition key "a", message time to live 5 s
      And c1 asks: Send, queue "orders", message body "m12", message partition key "a", message time to live 5 s
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Advance clock, duration 6 s
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

    @KEY-03
    Scenario: With every partition down, either error refuses a message whose keys differ
      Given a partitioned queue
      And every partition is down
      When c1 asks: Send, queue "orders", message body "m1", message session id "a", message partition key "b"
      And c1 asks: Send, queue "orders", message body "m1", message session id "a", message partition key "b"
      And c1 asks: Send, queue "orders", message body "m1", message session id "a", message partition key "b"
      And c1 asks: Send, queue "orders", message body "m1", message session id "a", message partition key "b"
      Then every answer was allowed

    @MGMT-10
    Scenario: A rule that is changed in a transaction, and the rules after it
      Given c1 asks: Create topic, topic "events"
      When c1 asks: Create subscription, topic "events", subscription "one"
      And c1 asks: Begin transaction, transaction "t1"
      And c1 asks: Add rule, topic "events", subscription "one", rule "r", filter type "TrueFilter", transaction "t1"
      And c1 asks: List rules, topic "events", subscription "one"
      And c1 asks: Commit transaction, transaction "t1"
      And c1 asks: List rules, topic "events", subscription "one"
      Then every answer was allowed

    @SESS-22
    Scenario: Where no sessions are required, none is listed
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: List sessions, queue "orders"
      And c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: List sessions, queue "orders"
      Then every answer was allowed

    @SESS-02
    Scenario: Where no sessions are required, a receiver of one finds nothing
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Receive, queue "orders", session id "a"
      And c1 asks: Receive batch, queue "orders", count 2, session id "a"
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

    @TXN-01
    Scenario: A SessionId and a PartitionKey of one text in a transaction
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: Begin transaction, transaction "t1"
      And c1 asks: Send, queue "orders", message body "m1", message session id "a", transaction "t1"
      And c1 asks: Send, queue "orders", message body "m2", message partition key "a", transaction "t1"
      And c1 asks: Commit transaction, transaction "t1"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

    @TXN-01
    Scenario: A MessageId may be a key in a transaction
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: Begin transaction, transaction "t1"
      And c1 asks: Send, queue "orders", message body "m1", message message id "x", transaction "t1"
      And c1 asks: Commit transaction, transaction "t1"
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

    @MGMT-27
    Scenario: Sessions and rules of what is disabled may be asked for
      Given c1 asks: Create topic, topic "events"
      When c1 asks: Create subscription, topic "events", subscription "one"
      And c1 asks: Update queue, queue "events/subscriptions/one", status "disabled"
      And c1 asks: Add rule, topic "events", subscription "one", rule "r", filter type "TrueFilter"
      And c1 asks: List rules, topic "events", subscription "one"
      And c1 asks: Create queue, queue "orders", requires session true
      And c1 asks: Update queue, queue "orders", status "disabled"
      And c1 asks: Accept session, queue "orders", session id "a"
      And c1 asks: List sessions, queue "orders"
      Then every answer was allowed

    @PART-16
    Scenario: Each of several peeks may be refused, where peeks are not promised
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      Then every answer was allowed

    @DLQ-10
    Scenario: A dead letter of transfers may be dropped by who dead-letters it
      Given c1 asks: Create queue, queue "end"
      When c1 asks: Create queue, queue "orders", forward to "end"
      And c1 asks: Delete queue, queue "end"
      And c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Receive, queue "orders/$transfer/$deadletterqueue"
      And c1 asks: Dead letter, queue "orders/$transfer/$deadletterqueue", lock token "@5"
      And c1 asks: Receive, queue "orders/$transfer/$deadletterqueue"
      Then every answer was allowed

    @TTL-06
    Scenario: The lock of an expired message may be renewed
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: Send, queue "orders", message body "m1", message time to live 5 s
      And c1 asks: Receive, queue "orders"
      And c1 asks: Advance clock, duration 6 s
      And c1 asks: Renew lock, queue "orders", lock token "@3"
      And c1 asks: Advance clock, duration 30 s
      And c1 asks: Complete, queue "orders", lock token "@3"
      Then every answer was allowed

    @LIFE-02
    Scenario: Outside of Standard nobody says that a regular queue gives nothing in an outage
      Given a regular queue
      And 4 messages without key were sent
      When c1 asks: Take partition down, queue "orders", partition 0
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

    @SIZE-13
    Scenario: Where nobody says how large a partition is, one that holds a part of the size may be full
      Given a partitioned queue
      When c1 asks: Send, queue "orders", message body "m1", message partition key "a", message size 600000000, message stands in true
      And c1 asks: Send, queue "orders", message body "m2", message partition key "a", message size 300000000, message stands in true
      And c1 asks: Send, queue "orders", message body "m3", message partition key "a", message size 300000000, message stands in true
      And c1 asks: Send, queue "orders", message body "m4", message partition key "a", message size 300000000, message stands in true
      Then every answer was allowed

    @BATCH-15
    Scenario Outline: Messages of what has sessions, or forwards, may be deleted in batches
      Given c1 asks: Create queue, queue "end"
      When c1 asks: Create queue, queue "orders", partitioned false, <which>
      And c1 asks: Send, queue "orders", message body "m1", message session id "a"
      And c1 asks: Delete batch, queue "orders", count 2
      And c1 asks: Delete batch, queue "orders", count 2
      And c1 asks: Delete batch, queue "orders", count 2
      And c1 asks: Delete batch, queue "orders", count 2
      And c1 asks: Delete batch, queue "orders", count 2
      And c1 asks: Delete batch, queue "orders", count 2
      Then every answer was allowed

      Examples:
        | which                         |
        | requires session true         |
        | forward to "end"              |
        | forward dead letters to "end" |

    @BATCH-15
    Scenario Outline: While a partition is down, messages may be deleted in batches
      Given c1 asks: Create queue, queue "orders", partitioned <partitioned>
      When c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Send, queue "orders", message body "m2"
      And c1 asks: Take partition down, queue "orders", partition 0
      And c1 asks: Delete batch, queue "orders", count 1
      And c1 asks: Delete batch, queue "orders", count 1
      And c1 asks: Delete batch, queue "orders", count 1
      And c1 asks: Delete batch, queue "orders", count 1
      And c1 asks: Bring partition up, queue "orders", partition 0
      And c1 asks: Receive, queue "orders"
      Then every answer was allowed

      Examples:
        | partitioned |
        | true        |
        | false       |

    @SESS-22
    Scenario: While a partition is down, what is there may be shown
      Given c1 asks: Create queue, queue "orders", requires session true
      When c1 asks: Send, queue "orders", message body "m1", message session id "a"
      And c1 asks: Send, queue "orders", message body "m2", message session id "b"
      And c1 asks: Take partition down, queue "orders", partition 3
      And c1 asks: Peek, queue "orders"
      And c1 asks: List sessions, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: List sessions, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: List sessions, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: List sessions, queue "orders"
      And c1 asks: Bring partition up, queue "orders", partition 3
      And c1 asks: List sessions, queue "orders"
      Then every answer was allowed

    @FWD-15
    Scenario: What forwards may be peeked at
      Given c1 asks: Create queue, queue "end"
      When c1 asks: Create queue, queue "orders"
      And c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Update queue, queue "orders", forward to "end"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      And c1 asks: Peek, queue "orders"
      Then every answer was allowed

    @MGMT-15
    Scenario Outline: A queue is deleted before a commit that would <change>
      Given c1 asks: Create queue, queue "orders"
      When c1 asks: Send, queue "orders", message body "m1"
      And c1 asks: Receive, queue "orders"
      And c1 asks: Begin transaction, transaction "t1"
      And c1 asks: <request>, transaction "t1"
      And c1 asks: Delete queue, queue "orders"
      And c1 asks: Commit transaction, transaction "t1"
      Then every answer was allowed

      Examples:
        | change           | request                                                            |
        | send a message   | Send, queue "orders", message body "m2", message partition key "a" |
        | settle a message | Complete, queue "orders", lock token "@3"                          |
