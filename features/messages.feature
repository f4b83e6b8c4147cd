Feature: Message life cycle
  What the documents take for granted, on partitioned and on regular queues, and where the cache of
  a front end or an outage becomes visible.

  Rule: What was sent is received as it was sent

    @LIFE-01
    Scenario Outline: A message arrives with its properties
      Given a <kind> queue
      When a message with <properties> is sent
      And everything is received and completed
      Then exactly 1 message was received
      And it has <properties>

      Examples:
        | kind        | properties                                             |
        | partitioned | MessageId "x"                                          |
        | regular     | MessageId "x"                                          |
        | partitioned | SessionId "a" and MessageId "x"                        |
        | regular     | SessionId "a" and MessageId "x"                        |
        | partitioned | PartitionKey "a" and MessageId "x"                     |
        | regular     | PartitionKey "a" and MessageId "x"                     |
        | partitioned | SessionId "a" and PartitionKey "a" and MessageId "x"   |
        | regular     | SessionId "a" and PartitionKey "a" and MessageId "x"   |

    @LIFE-01
    Scenario Outline: A message that is given again still has its properties
      Given a <kind> queue
      When a message with SessionId "a" and MessageId "x" is sent
      And one message is received and abandoned
      And everything is received and completed
      Then it has SessionId "a" and MessageId "x"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-09
    Scenario: A receiver gets the messages of every partition
      Given a partitioned queue
      And 96 messages without key were sent
      When everything is received and completed
      Then exactly 96 messages were received

    @LIFE-09
    Scenario: A receiver gets the messages of every key
      Given a partitioned queue
      And 64 messages with PartitionKey each its own were sent
      When everything is received and completed
      Then exactly 64 messages were received

    @LIFE-03
    Scenario Outline: A completed message is gone
      Given a <kind> queue
      And a message without key was sent
      And everything was received and completed
      When 60 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-03
    Scenario Outline: A message that was received and deleted is gone
      Given a <kind> queue
      And a message without key was sent
      When a message is received and deleted
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A lock keeps a message from others, for as long as it lasts

    @LIFE-02
    Scenario Outline: A locked message is not given to anybody else
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      Then a receive over another connection finds nothing
      And a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-04
    Scenario Outline: An abandoned message can be received again
      Given a <kind> queue
      And a message without key was sent
      When one message is received and abandoned
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-05
    Scenario Outline: A message whose lock has expired can be received again
      Given a <kind> queue with locks of 5 seconds
      And a message without key was sent
      When a message is received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-06
    Scenario Outline: A message whose lock has expired cannot be settled
      Given a <kind> queue with locks of 5 seconds
      And a message without key was sent
      When a message is received and kept
      And 5 seconds pass
      And the message kept is <settled>
      Then it is refused

      Examples:
        | kind        | settled   |
        | partitioned | completed |
        | regular     | completed |
        | partitioned | abandoned |
        | regular     | abandoned |

    @LIFE-06
    Scenario Outline: A message cannot be settled twice
      Given a <kind> queue
      And a message without key was sent
      When a message is received and kept
      And the message kept is completed
      And the message kept is completed
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-10
    Scenario Outline: A session is held by one connection
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And session "a" is requested over another connection
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-10
    Scenario Outline: A session is received by its holder only
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And session "a" is received over another connection
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-10
    Scenario Outline: A session that was closed can be held by another connection
      Given a <kind> queue that requires sessions
      And a message with SessionId "a" was sent
      When session "a" is accepted
      And session "a" is closed
      And session "a" is requested over another connection
      Then it is accepted

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A peek takes nothing

    @LIFE-07
    Scenario Outline: Messages that were peeked can still be received
      Given a <kind> queue
      And 10 messages with PartitionKey "a" were sent
      When messages are peeked
      And everything is received and completed
      Then exactly 10 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-07
    Scenario Outline: A completed message is not shown
      Given a <kind> queue
      And a message without key was sent
      And everything was received and completed
      When messages are peeked
      Then exactly 0 messages are shown

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @LIFE-12
    Scenario: A message's sequence number stays the same, and names its partition
      Given a partitioned queue
      And 32 messages without key were sent
      When one message is received and abandoned
      And messages are peeked
      And everything is received and completed
      Then exactly 32 messages were received
      And the sequence numbers of all messages name the partitions that took them

  Rule: What a client may notice of partitions

    @LIFE-08 @LIFE-13
    Scenario: Another connection may find nothing while a front end has messages in its cache
      Given a partitioned queue with locks of 5 seconds
      And 32 messages without key were sent
      When a message is received and kept
      And a receive is tried over another connection
      And 5 seconds pass
      And 5 seconds pass
      And everything is received over another connection and completed
      Then exactly 32 messages were received by then

    @LIFE-11
    Scenario: In an outage, what was sent is at worst received afterwards
      Given a partitioned queue
      And 32 messages without key were sent
      And 8 partitions are down
      When a receive is tried
      And every partition is up again
      And everything is received and completed
      Then exactly 32 messages were received by then
