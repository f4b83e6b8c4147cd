Feature: Time to live
  A message that is not processed in time has no use any more. Its time to live is set by its sender
  or its queue, and the shorter of the two counts. When it has passed, the message is dropped, or
  dead-lettered if its queue is set so.

  Rule: Until then it stays, and after that it is given to nobody

    @TTL-02
    Scenario Outline: Until its time is over a message can be received
      Given a <kind> queue
      And a message without key was sent that lives for 30 seconds
      When only 20 of 30 seconds pass
      Then a receive finds something

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-02
    Scenario Outline: A message that comes back has its whole time
      Given a <kind> queue with locks of 5 seconds
      And a message without key was sent that lives for 60 seconds
      When a message is received and kept
      And 5 seconds pass
      And one message is received and abandoned
      Then a receive finds something

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-02
    Scenario Outline: Until its time is over it is no dead letter
      Given a <kind> queue that dead-letters expired messages
      And a message without key was sent that lives for 30 seconds
      When only 20 of 30 seconds pass
      Then a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-01
    Scenario Outline: A message whose time is over is given to nobody
      Given a <kind> queue
      And a message without key was sent that lives for 5 seconds
      When 5 seconds pass
      Then a receive finds nothing
      And a receive over another connection finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-01
    Scenario Outline: Nor is it in its session
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent that lives for 5 seconds
      When 5 seconds pass
      And session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-01
    Scenario: The others of its key come all the same
      Given a partitioned queue
      And a message with PartitionKey "a" was sent that lives for 5 seconds
      And a message with PartitionKey "a" was sent
      When 5 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

    @TTL-09
    Scenario Outline: A peek may show it until it is removed
      Given a <kind> queue
      And a message without key was sent that lives for 5 seconds
      When 5 seconds pass
      And messages are peeked
      Then at most 1 message is shown
      And a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-14
    Scenario: What a front end holds in its cache may be handed out still
      Given a partitioned queue
      And a message without key was sent that lives for 5 seconds
      And a message without key was sent that lives for 5 seconds
      When a message is received and kept
      And 5 seconds pass
      Then a receive may find something

    @TTL-01
    Scenario Outline: A message that comes back does not begin to live anew
      Given a <kind> queue with locks of 5 seconds
      And a message with PartitionKey "a" was sent that lives for 30 seconds
      When only 20 of 30 seconds pass
      And <back>
      And 15 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        | back                                              |
        | partitioned | one message is received and abandoned             |
        | partitioned | a message is received 1 times, kept for 5 seconds each time |
        | regular     | one message is received and abandoned             |
        | regular     | a message is received 1 times, kept for 5 seconds each time |

    @TTL-01 @SESS-08
    Scenario Outline: A message that comes back to its session does not begin to live anew
      Given a <kind> queue that requires sessions
      And a message with SessionId "s" was sent that lives for 30 seconds
      When session "s" is accepted
      And only 20 of 30 seconds pass
      And a message of session "s" is received and kept
      And session "s" is closed
      And 15 seconds pass
      And session "s" is accepted
      And everything of session "s" is received and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-01 @FWD-07
    Scenario Outline: A message that is forwarded lives as long as it says
      Given a <end> destination "end"
      And a <kind> source of "end"
      And a message without key was sent that lives for 300 seconds
      When receivers turn to "end"
      And a message is awaited and abandoned
      And 300 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        | end         |
        | partitioned | regular     |
        | regular     | partitioned |

    @TTL-07
    Scenario Outline: A copy whose topic says how long it lives becomes a dead letter
      Given a <kind> topic with a time to live of 20 seconds
      And subscription "one" with locks of 60 seconds and that dead-letters expired messages
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

  Rule: The shorter time counts

    @TTL-03
    Scenario Outline: A message that says nothing lives as long as its queue says
      Given a <kind> queue with a time to live of 5 seconds
      And a message without key was sent
      When 5 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-03
    Scenario: So does a copy in a subscription
      Given a topic
      And subscription "s1" with a time to live of 5 seconds
      And a message without key was sent
      When 5 seconds pass
      And receivers turn to subscription "s1"
      Then a receive finds nothing

    @TTL-03
    Scenario: So does a copy whose topic says so
      Given a partitioned topic with a time to live of 5 seconds
      And subscription "s1"
      And a message without key was sent
      When 5 seconds pass
      And receivers turn to subscription "s1"
      Then a receive finds nothing

    @TTL-03
    Scenario Outline: A committed message that says nothing lives as long as its queue says
      Given a <kind> queue with a time to live of 5 seconds
      And a transaction
      And a message with PartitionKey "a" was sent in the transaction
      When the transaction is committed
      And 5 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-04
    Scenario Outline: No message lives longer than its queue says
      Given a <kind> queue with a time to live of 5 seconds
      And a message without key was sent that lives for 60 seconds
      When 5 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-04
    Scenario Outline: A message may live for less than its queue says
      Given a <kind> queue with a time to live of 60 seconds
      And a message without key was sent that lives for 5 seconds
      When 5 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-04 @TTL-01 @TOPIC-20
    Scenario Outline: A copy in a subscription lives for less if its message says so
      Given a <kind> topic <life>
      And subscription "one" <traits>
      And a message with PartitionKey "a" was sent that lives for 5 seconds
      And a message with PartitionKey "a" was sent
      When 5 seconds pass
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | life                              | traits                           |
        | partitioned | without sessions                  | with a time to live of 60 seconds |
        | partitioned | without sessions                  | with locks of 30 seconds          |
        | partitioned | with a time to live of 60 seconds | with locks of 30 seconds          |
        | regular     | without sessions                  | with a time to live of 60 seconds |
        | regular     | with a time to live of 60 seconds | with locks of 30 seconds          |

    @TTL-04 @TTL-12
    Scenario Outline: What was scheduled lives as long as it says itself from when it is due
      Given a <kind> queue
      And a message without key was scheduled in 20 seconds, to live for 30 seconds
      When 20 seconds pass
      And a message is awaited and abandoned
      And 200 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Whoever has it locked can deal with it

    @TTL-05
    Scenario Outline: A locked message can be completed when its time is over
      Given a <kind> queue with locks of 60 seconds
      And a message without key was sent that lives for 5 seconds
      When a message is received and kept
      And 5 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-05
    Scenario: It can be dead-lettered
      Given a partitioned queue with locks of 60 seconds
      And a message without key was sent that lives for 5 seconds
      When a message is received and kept
      And 5 seconds pass
      And the message kept is dead-lettered
      Then it is accepted

    @TTL-05
    Scenario: It can be set aside
      Given a partitioned queue with locks of 60 seconds
      And a message without key was sent that lives for 5 seconds
      When a message is received and kept
      And 5 seconds pass
      And the message kept is deferred
      Then it is accepted

    @TTL-06
    Scenario Outline: It is given to nobody once it is given back
      Given a <kind> queue with locks of 60 seconds
      And a message without key was sent that lives for 5 seconds
      When a message is received and kept
      And 5 seconds pass
      And the message kept is abandoned
      Then a receive finds nothing
      And a receive over another connection finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-06
    Scenario Outline: Nor once its lock has ended
      Given a <kind> queue with locks of 20 seconds
      And a message without key was sent that lives for 5 seconds
      When a message is received and kept
      And 20 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: It becomes a dead letter where its queue says so

    @TTL-07
    Scenario Outline: An expired message is a dead letter
      Given a <kind> queue that dead-letters expired messages
      And a message with PartitionKey "a" and MessageId "x" was sent that lives for 5 seconds
      When 5 seconds pass
      And a receive is tried
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it has PartitionKey "a" and MessageId "x"
      And it is a dead letter because of "TTLExpiredException"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-07
    Scenario: So is one that expired under its lock
      Given a partitioned queue with locks of 20 seconds and that dead-letters expired messages
      And a message without key was sent that lives for 5 seconds
      When a message is received and kept
      And 20 seconds pass
      And a receive is tried
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it is a dead letter because of "TTLExpiredException"

    @TTL-08
    Scenario Outline: Elsewhere it is dropped
      Given a <kind> queue
      And a message without key was sent that lives for 5 seconds
      When 5 seconds pass
      Then a receive finds nothing
      And a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-10
    Scenario Outline: What is set aside is not dead-lettered for its age
      Given a <kind> queue that dead-letters expired messages
      And a message without key was sent that lives for 5 seconds
      When a message is received and deferred
      And 5 seconds pass
      And a receive is tried
      Then a receive among its dead letters finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-11
    Scenario Outline: Whether it can be had by its number then is open
      Given a <kind> queue
      And a message without key was sent that lives for 5 seconds
      When a message is received and deferred
      And 5 seconds pass
      And it is tried by its number
      Then it is accepted or refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Schedules and outages

    @TTL-12
    Scenario Outline: A scheduled message begins to live when it is due
      Given a <kind> queue
      And a message without key was scheduled in 180 seconds, to live for 150 seconds
      When 180 seconds pass
      And 1 message is awaited
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-12
    Scenario Outline: The copy of a scheduled message begins to live when it is due
      Given a <kind> topic
      And subscription "s1"
      And a message without key was scheduled in 180 seconds, to live for 150 seconds
      When 180 seconds pass
      And receivers turn to subscription "s1"
      And 1 message is awaited
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TTL-13
    Scenario: An outage does not stop the clock
      Given a partitioned queue
      And a message with PartitionKey "a" was sent that lives for 5 seconds
      When every partition goes down
      And 5 seconds pass
      And every partition is up again
      Then a receive finds nothing
