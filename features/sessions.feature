Feature: Sessions
  Messages with one SessionId belong together: they are in one partition, only one receiver at a
  time gets them, in the order in which they were sent, and a text can be stored as the state of the
  session.

  Rule: A queue that requires sessions serves nothing but sessions

    @SESS-01
    Scenario Outline: A message without SessionId is given to no receiver
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When a message with MessageId "x" is sent
      Then it is accepted or refused
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-02
    Scenario Outline: Without a session nothing is received
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      Then a receive is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Whoever holds a session is given its messages

    @SESS-03
    Scenario Outline: A session can be accepted before it has a message
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-03
    Scenario: A session whose messages are all gone can be accepted over another connection
      Given a partitioned queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And everything of session "a" is received and completed
      And session "a" is closed
      And session "a" is requested over another connection
      Then it is accepted

    @SESS-04
    Scenario Outline: Two connections hold two sessions
      Given a <kind> queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 4 of each
      When session "a" is accepted
      And session "b" is requested over another connection
      Then it is accepted
      When everything of session "a" is received and completed
      Then exactly 4 messages were received
      When everything of session "b" is received over another connection and completed
      Then exactly 8 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-05
    Scenario Outline: What is sent to a session that is held is given to its holder
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      And 3 messages with SessionId "a" are sent
      And session "a" is received over another connection
      Then it is refused
      When everything of session "a" is received and completed
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-15
    Scenario Outline: An abandoned message comes before all later ones
      Given a <kind> queue that requires sessions
      And 3 messages with SessionId "a" were sent
      When session "a" is accepted
      And one message of session "a" is received and abandoned
      And one message of session "a" is received and abandoned
      And everything of session "a" is received and completed
      Then exactly 3 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-23
    Scenario Outline: A peek in a session shows messages of that session only
      Given a <kind> queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 3 of each
      When session "b" is requested over another connection
      And messages of session "b" are peeked
      Then each message shown has SessionId "b"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DEFER-09 @SESS-23
    Scenario Outline: A peek in a session shows a deferred message as deferred
      Given a <kind> queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And a message of session "s" is received and deferred
      And messages of session "s" are peeked
      Then it is shown as deferred, if it is shown

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: The next session is a free one that has messages

    @SESS-06
    Scenario Outline: Accepting the next session again and again gives each session that has messages
      Given a <kind> queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 2 of each
      When the next session is accepted 3 times
      Then the sessions accepted are "a", "b" and "c"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-06
    Scenario: A session that was closed is the next one again
      Given a partitioned queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And session "a" is closed
      And the next session is accepted
      Then the session accepted is "a"

    @SESS-07
    Scenario Outline: A session that is held is not the next one
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And the next session is requested over another connection
      Then there is none

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-07
    Scenario: Without messages there is no next session
      Given a partitioned queue that requires sessions
      When the next session is requested over another connection
      Then there is none

  Rule: A session is given back, or lost

    @SESS-08
    Scenario Outline: A session that was closed goes on where it was
      Given a <kind> queue that requires sessions
      And 4 messages with SessionId "a" were sent
      When session "a" is accepted
      And a message of session "a" is received and kept
      And session "a" is closed
      And session "a" is requested over another connection
      Then it is accepted
      When everything of session "a" is received over another connection and completed
      Then exactly 4 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-09
    Scenario Outline: A delivery that ended with the closing of the session does not count
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And a message of session "a" is received and kept
      And session "a" is closed
      And session "a" is accepted
      And a message of session "a" is received and kept
      Then it is delivery 1

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-10
    Scenario Outline: A delivery that ended with the session's lock counts
      Given a <kind> queue with locks of 5 seconds and that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And a message of session "a" is received and kept
      And 5 seconds pass
      And session "a" is accepted
      And a message of session "a" is received and kept
      Then it is delivery 2

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-11
    Scenario Outline: A session whose lock has expired can be accepted by anybody
      Given a <kind> queue with locks of 5 seconds and that requires sessions
      And 3 messages with SessionId "a" were sent
      When session "a" is accepted
      And a message of session "a" is received and kept
      And 5 seconds pass
      And session "a" is requested over another connection
      Then it is accepted
      When everything of session "a" is received over another connection and completed
      Then exactly 3 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-12
    Scenario Outline: With a lost session nothing can be done
      Given a <kind> queue with locks of 5 seconds and that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And 5 seconds pass
      And session "a" is <used>
      Then it is refused because the session's lock is lost

      Examples:
        | kind        | used                 |
        | partitioned | received             |
        | partitioned | renewed              |
        | partitioned | given the state "s"  |
        | partitioned | asked for its state  |
        | regular     | received             |
        | regular     | renewed              |

    @SESS-11 @SESS-13
    Scenario Outline: Renewing one session keeps no other
      Given a <kind> queue with locks of 20 seconds and that requires sessions
      And a message with SessionId "a" was sent
      And a message with SessionId "b" was sent
      When session "a" is accepted
      And session "b" is accepted
      And only 12 of 20 seconds pass
      And session "a" is renewed
      And 9 seconds pass
      And session "b" is requested over another connection
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-13
    Scenario Outline: A session that is renewed is nobody else's for another lock duration
      Given a <kind> queue with locks of 20 seconds and that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And only 12 of 20 seconds pass
      And session "a" is renewed
      And only 12 of 20 seconds pass
      And session "a" is requested over another connection
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-14
    Scenario Outline: A message can be settled as long as its session is held
      Given a <kind> queue with locks of 20 seconds and that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And a message of session "a" is received and kept
      And only 12 of 20 seconds pass
      And session "a" is renewed
      And only 12 of 20 seconds pass
      And the message kept is completed
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-06 @SESS-08
    Scenario Outline: What was received in a session is settled no more when the session is closed
      Given a <kind> queue that requires sessions
      And 2 messages with SessionId "a" were sent
      When session "a" is accepted
      And a message of session "a" is received and kept
      And session "a" is closed
      And the message kept is <settled>
      Then it is refused
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 2 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | abandoned     |
        | partitioned | deferred      |
        | partitioned | dead-lettered |
        | regular     | completed     |
        | regular     | dead-lettered |

    @SESS-12
    Scenario Outline: What was received in a session is settled no more when the session is lost
      Given a <kind> queue with locks of 5 seconds and that requires sessions
      And 2 messages with SessionId "a" were sent
      When session "a" is accepted
      And a message of session "a" is received and kept
      And 5 seconds pass
      And the message kept is <settled>
      Then it is refused
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 2 messages were received
      And the messages came in the order in which they were sent

      Examples:
        | kind        | settled       |
        | partitioned | completed     |
        | partitioned | abandoned     |
        | partitioned | deferred      |
        | partitioned | dead-lettered |
        | regular     | completed     |

    @LIFE-10
    Scenario Outline: A session is renewed and received at once by its holder only
      Given a <kind> queue with locks of 20 seconds and that requires sessions
      And 2 messages with SessionId "a" were sent
      When session "a" is accepted
      And session "a" is <used> over another connection
      Then it is refused
      When everything of session "a" is received and completed
      Then exactly 2 messages were received
      When 20 seconds pass
      And session "a" is requested over another connection
      Then it is accepted

      Examples:
        | kind        | used             |
        | partitioned | renewed          |
        | partitioned | received at once |
        | regular     | renewed          |
        | regular     | received at once |

    @LIFE-10
    Scenario Outline: A session that another connection closes stays with its holder
      Given a <kind> queue with locks of 20 seconds and that requires sessions
      And 2 messages with SessionId "a" were sent
      When session "a" is accepted
      And session "a" is closed over another connection
      Then it is accepted or refused
      When session "a" is requested over another connection
      Then it is refused
      When everything of session "a" is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DLQ-02 @SESS-05
    Scenario Outline: A message of a session that was delivered too often becomes a dead letter
      Given a <kind> queue with locks of 5 minutes and with 3 deliveries and that requires sessions
      And a message with SessionId "a" and MessageId "x" was sent
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And one message of session "a" is received and abandoned, as often as permitted
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      And it is a dead letter because of "MaxDeliveryCountExceeded"
      And it has SessionId "a" and MessageId "x"
      When everything of session "a" is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A text can be kept with a session

    @SESS-16
    Scenario Outline: A session has no state until one is set
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      Then the state of session "a" is none

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-17
    Scenario Outline: The state is the last that was set
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      And session "a" is given the state "one"
      And session "a" is given the state "two"
      Then the state of session "a" is "two"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-17
    Scenario Outline: An empty text is a state
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      And session "a" is given the state "one"
      And session "a" is given the state ""
      Then the state of session "a" is an empty text

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-08 @SESS-04
    Scenario Outline: Closing one session leaves others of its connection as they are
      Given a <kind> queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 2 of each
      When session "a" is accepted
      And session "b" is accepted
      And session "a" is closed
      And everything of session "b" is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-18
    Scenario Outline: Setting nothing clears the state
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      And session "a" is given the state "one"
      And session "a" is given no state
      Then the state of session "a" is none

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-19
    Scenario Outline: The state stays when the session is empty and closed
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And session "a" is given the state "one"
      And everything of session "a" is received and completed
      And session "a" is closed
      And session "a" is accepted
      Then the state of session "a" is "one"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-19
    Scenario Outline: The next holder of a session gets the state that was set
      Given a <kind> queue with locks of 5 seconds and that requires sessions
      When session "a" is accepted
      And session "a" is given the state "one"
      And <ended>
      And session "a" is requested over another connection
      Then the state of session "a" over another connection is "one"

      Examples:
        | kind        | ended                 |
        | partitioned | session "a" is closed |
        | partitioned | 5 seconds pass        |
        | regular     | session "a" is closed |
        | regular     | 5 seconds pass        |

    @SESS-19
    Scenario: The state stays through an outage and an expired lock
      Given a partitioned queue with locks of 5 seconds and that requires sessions
      When session "a" is accepted
      And session "a" is given the state "one"
      And every partition goes down
      And 5 seconds pass
      And every partition is up again
      And session "a" is accepted
      Then the state of session "a" is "one"

    @SESS-20
    Scenario Outline: Each session has its own state
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      And session "b" is accepted
      And session "a" is given the state "one"
      Then the state of session "b" is none
      When session "b" is given the state "two"
      Then the state of session "a" is "one"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-21
    Scenario Outline: The state is the holder's alone
      Given a <kind> queue that requires sessions
      When session "a" is accepted
      And session "a" is given the state "one"
      And session "a" is <used> over another connection
      Then it is refused
      And the state of session "a" is "one"

      Examples:
        | kind        | used                |
        | partitioned | given the state "s" |
        | partitioned | asked for its state |
        | regular     | given the state "s" |

    @SESS-22
    Scenario Outline: The list of sessions names those with messages or a state
      Given a <kind> queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 2 of each
      When session "b" is accepted
      And everything of session "b" is received and completed
      And session "d" is accepted
      And session "d" is given the state "one"
      And session "e" is accepted
      Then the sessions listed are "a", "c" and "d"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: An outage concerns the sessions of its partition

    @SESS-24 @SESS-25
    Scenario: A session can be had while any other partition is down
      Given a partitioned queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted and closed while each partition in turn is down
      Then at most 1 of the requests is refused

    @SESS-25
    Scenario: While all partitions are down, a session may be refused
      Given a partitioned queue that requires sessions
      And a message with SessionId "a" was sent
      And every partition is down
      When session "a" is requested
      Then it is accepted or refused

  Rule: On a regular queue a transaction may span sessions

    @SESS-26
    Scenario: Messages of two sessions are received after the commit, and not before
      Given a regular queue that requires sessions
      And a transaction
      And a message with SessionId "a" was sent in the transaction
      And a message with SessionId "b" was sent in the transaction
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then exactly 0 messages were received
      When the transaction is committed
      And everything of session "a" is received and completed
      Then exactly 1 message was received
      When session "b" is accepted
      And everything of session "b" is received and completed
      Then exactly 2 messages were received

  Rule: A subscription has sessions as a queue has them

    @SESS-06 @SESS-07 @TOPIC-13
    Scenario Outline: The next sessions of a subscription are those that have messages
      Given a <kind> topic
      And subscription "one" that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 2 of each
      When receivers turn to subscription "one"
      And the next session is accepted 3 times
      Then the sessions accepted are "a", "b" and "c"
      When the next session is requested over another connection
      Then there is none

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-10 @TOPIC-13
    Scenario Outline: A session of a subscription cannot be locked while another connection holds it
      Given a <kind> topic
      And subscription "one" that requires sessions
      And a message with SessionId "a" was sent
      When receivers turn to subscription "one"
      And session "a" is accepted
      And session "a" is requested over another connection
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-20 @TOPIC-13
    Scenario Outline: Each subscription has states of its own for its sessions
      Given a <kind> topic
      And subscription "one" that requires sessions
      And subscription "two" that requires sessions
      And a message with SessionId "a" was sent
      When receivers turn to subscription "one"
      And session "a" is accepted
      And session "a" is given the state "first"
      And receivers turn to subscription "two"
      And session "a" is accepted
      Then the state of session "a" is none
      When session "a" is given the state "second"
      And everything of session "a" is received and completed
      Then exactly 1 message was received
      When session "a" is closed
      And receivers turn to subscription "one"
      Then the state of session "a" is "first"
      When everything of session "a" is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-22 @TOPIC-13
    Scenario Outline: The sessions of a subscription are listed
      Given a <kind> topic
      And subscription "one" that requires sessions
      And subscription "two" that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 2 of each
      When receivers turn to subscription "one"
      And session "b" is accepted
      And everything of session "b" is received and completed
      Then the sessions listed are "a" and "c"
      When receivers turn to subscription "two"
      Then the sessions listed are "a", "b" and "c"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @SESS-13 @TOPIC-13
    Scenario Outline: A session of a subscription is renewed, and lost when its lock ends
      Given a <kind> topic
      And subscription "one" with locks of 20 seconds and that requires sessions
      And a message with SessionId "a" was sent
      When receivers turn to subscription "one"
      And session "a" is accepted
      And only 12 of 20 seconds pass
      And session "a" is renewed
      And only 12 of 20 seconds pass
      And session "a" is requested over another connection
      Then it is refused
      When 20 seconds pass
      And session "a" is received
      Then it is refused because the session's lock is lost

      Examples:
        | kind        |
        | partitioned |
        | regular     |
