Feature: Features added over time
  Some editions list operations that now work with partitioned entities and can be requested over
  AMQP. Each operation does there what it does on a regular entity, whichever partition the message
  or the session is in. Adding and removing rules, which is also on the list, is in filters.feature.

  Rule: What is asked about messages works in every partition

    @FEAT-05
    Scenario Outline: Messages of every partition are sent and received
      Given a partitioned queue
      When 48 messages <carried> are sent
      And everything is received and completed
      Then exactly 48 messages were received

      Examples:
        | carried                |
        | without key            |
        | with PartitionKey "a"  |

    @FEAT-05
    Scenario: A subscription of a partitioned topic gives messages of every partition
      Given a partitioned topic
      And subscription "one"
      When 48 messages without key are sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 48 messages were received

    @FEAT-08
    Scenario: Each deferred message is received by its number
      Given a partitioned queue
      And 32 messages without key were sent
      When each message is received and deferred
      And each of them is received by its number and completed
      Then exactly 32 messages were received

    @FEAT-09
    Scenario: Messages with several keys are all peeked
      Given a partitioned queue
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 3 of each
      When they are peeked at, 4 at a time, each time from behind the last
      Then every message that was sent was shown

    @FEAT-10
    Scenario: The lock of each message is renewed
      Given a partitioned queue
      And 32 messages without key were sent
      When each of them is received and kept
      Then exactly 32 messages are kept
      When each of them is renewed
      Then all of them are accepted
      When each of them is completed
      Then all of them are accepted

    @FEAT-11
    Scenario Outline: Messages are scheduled and come
      Given a partitioned queue
      And 32 messages <carried> were scheduled in 5 seconds
      When 5 seconds pass
      And 32 messages are awaited
      Then exactly 32 messages were received

      Examples:
        | carried                |
        | without key            |
        | with PartitionKey "a"  |

    @FEAT-12
    Scenario: Each scheduled message is cancelled and never comes
      Given a partitioned queue
      And 32 messages without key were scheduled in 5 seconds
      When each of them is cancelled
      And 10 seconds pass
      Then a receive finds nothing

  Rule: What is asked about sessions works in every partition

    @FEAT-13
    Scenario Outline: A session is renewed wherever it is
      Given a partitioned queue with locks of 20 seconds and that requires sessions
      And a message with SessionId "<session>" was sent
      When session "<session>" is accepted
      And only 12 of 20 seconds pass
      And session "<session>" is renewed
      And only 12 of 20 seconds pass
      And everything of session "<session>" is received and completed
      Then exactly 1 message was received

      Examples:
        | session |
        | a       |
        | b       |
        | c       |

    @FEAT-14 @FEAT-15
    Scenario Outline: A session's state is set and got wherever the session is
      Given a partitioned queue that requires sessions
      And a message with SessionId "<session>" was sent
      When session "<session>" is accepted
      And session "<session>" is given the state "one"
      Then the state of session "<session>" is "one"

      Examples:
        | session |
        | a       |
        | b       |
        | c       |

    @FEAT-16
    Scenario: Sessions of several partitions are listed
      Given a partitioned queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 2 of each
      Then the sessions listed are "a", "b" and "c"

    @FEAT-17
    Scenario Outline: A session is peeked wherever it is
      Given a partitioned queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 3 of each
      When session "<session>" is accepted
      And messages of session "<session>" are peeked
      Then each message shown has SessionId "<session>"

      Examples:
        | session |
        | a       |
        | b       |
        | c       |
