Feature: Deferred messages
  A receiver that cannot process a message yet may defer it: the message stays in its queue, no
  ordinary receive returns it, and a client that knows its sequence number can receive it.

  Rule: What was set aside is had by its number only

    @DEFER-01
    Scenario Outline: A deferred message is given to no ordinary receive
      Given a <kind> queue
      And a message without key was sent
      When a message is received and deferred
      Then a receive finds nothing
      And a receive over another connection finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-02
    Scenario Outline: A deferred message is received by its number
      Given a <kind> queue
      And a message with PartitionKey "a" and MessageId "x" was sent
      When a message is received and deferred
      And it is received by its number and completed
      Then exactly 1 message was received
      And it has PartitionKey "a" and MessageId "x"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-02
    Scenario Outline: Others that know the number can have it too
      Given a <kind> queue
      And a message without key was sent
      When a message is received and deferred
      And it is received by its number over another connection and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-08
    Scenario Outline: A deferred message keeps its number
      Given a <kind> queue
      And a message without key was sent
      When a message is received and deferred
      And it is received by its number and completed
      Then each message received has the same sequence number as when it was deferred

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-03
    Scenario Outline: A number that no message has is refused
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      And the message kept is completed
      And the message kept is tried by its number
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-04
    Scenario Outline: A message that was not set aside is not had by its number
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      And the message kept is abandoned
      And the message kept is tried by its number
      Then it is refused
      And a receive finds something

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-09
    Scenario: A peek shows a deferred message
      Given a regular queue
      And a message without key was sent
      When a message is received and deferred
      And messages are peeked
      Then exactly 1 message is shown
      And it is shown as deferred

    @DEFER-09
    Scenario: A peek may show a deferred message wherever it is
      Given a partitioned queue
      And a message without key was sent
      When a message is received and deferred
      And messages are peeked
      Then it is shown as deferred, if it is shown

  Rule: It is locked and settled like any other, and stays set aside otherwise

    @DEFER-05
    Scenario Outline: While it is locked nobody else has it
      Given a <kind> queue
      And a message without key was sent
      When a message is received and deferred
      And it is received by its number and kept
      And it is tried by its number over another connection
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-06
    Scenario Outline: What is abandoned is deferred as before
      Given a <kind> queue
      And a message without key was sent
      When a message is received and deferred
      And it is received by its number and abandoned
      Then a receive finds nothing
      When it is tried by its number
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-06
    Scenario: What is abandoned again and again is deferred as before
      Given a partitioned queue
      And a message without key was sent
      When a message is received and deferred
      And it is received by its number and abandoned
      And it is received by its number and abandoned
      And it is received by its number and abandoned
      Then a receive finds nothing
      When it is tried by its number
      Then it is accepted

    @DEFER-12
    Scenario Outline: A deferred message of a session stays deferred when its session is closed
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And a message of session "a" is received and deferred
      And session "a" is closed
      And session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 0 messages were received
      When it is tried by its number in session "a"
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-06
    Scenario Outline: What was locked too long is deferred as before
      Given a <kind> queue with locks of 5 seconds
      And a message without key was sent
      When a message is received and deferred
      And it is received by its number and kept
      And 5 seconds pass
      Then a receive finds nothing
      When it is tried by its number
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-07
    Scenario Outline: What was <settled> is gone
      Given a <kind> queue
      And a message without key was sent
      When a message is received and deferred
      And it is received by its number and <settled>
      And it is tried by its number
      Then it is refused

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | regular     | completed     |
        | partitioned | dead-lettered |
        | regular     | dead-lettered |

    @DEFER-12
    Scenario Outline: A deferred message of a session is its holder's
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And a message of session "a" is received and deferred
      And it is tried by its number
      Then it is refused
      When it is tried by its number in session "a" over another connection
      Then it is refused
      When session "b" is accepted
      And it is tried by its number in session "b"
      Then it is refused
      When it is tried by its number in session "a"
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-07
    Scenario Outline: A deferred message that is received and deleted by its number is gone
      Given a <kind> queue
      And a message without key was sent
      When a message is received and deferred
      And it is received by its number and deleted
      And it is tried by its number
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-07 @TOPIC-20
    Scenario Outline: A subscription's deferred message that is received and deleted is gone
      Given a <kind> topic
      And subscription "one"
      And a message without key was sent
      When receivers turn to subscription "one"
      And a message is received and deferred
      And it is received by its number and deleted
      And it is tried by its number
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Several at once, from one partition or more

    @DEFER-11
    Scenario Outline: Messages of one partition are received together
      Given a <kind> queue
      And 5 messages with PartitionKey "a" were sent
      When each message is received and deferred
      And all of them are received by their numbers at once
      Then exactly 5 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-10
    Scenario: Messages of several partitions may have to be received one by one
      Given a partitioned queue
      And 32 messages without key were sent
      When each message is received and deferred
      And all of them are received by their numbers at once, or else one by one
      Then exactly 32 messages were received

    @DEFER-13
    Scenario: A deferred message outlasts an outage
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      When a message is received and deferred
      And every partition is down for a while
      And it is received by its number and completed
      Then exactly 1 message was received
