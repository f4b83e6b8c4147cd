Feature: Duplicate detection
  A queue with duplicate detection remembers the MessageIds of the messages that it has accepted,
  for a window of time. A message whose MessageId is remembered is accepted and dropped: nobody ever
  receives it.

  Rule: A MessageId is remembered for the duplicate window

    @DUP-01
    Scenario Outline: After the window a message is no copy
      Given a <kind> queue with duplicate detection over 20 seconds
      And a message with MessageId "x" was sent
      When 20 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-01
    Scenario: Other messages do not prolong the window
      Given a partitioned queue with duplicate detection over 40 seconds
      And a message with MessageId "x" was sent
      When 20 seconds pass
      And a message with MessageId "y" is sent
      And 20 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 3 messages were received

    @DUP-02
    Scenario Outline: By default the window is 10 minutes
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" was sent
      When only 500 of 600 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-02
    Scenario Outline: After 10 minutes nothing is remembered by default
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" was sent
      When 600 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-03
    Scenario Outline: No window is shorter than 20 seconds
      Given perhaps a <kind> queue with duplicate detection over 10 seconds
      When a message with MessageId "x" is sent
      And only 15 of 20 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received, or 0 if it was refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-03
    Scenario Outline: No window is longer than 7 days
      Given perhaps a <kind> queue with duplicate detection over 691200 seconds
      When a message with MessageId "x" is sent
      And 168 hours pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 2 messages were received, or 0 if it was refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-03
    Scenario Outline: Windows at these limits can be had
      Given a <kind> queue with duplicate detection over <window> seconds
      And a message with MessageId "x" was sent
      When only 15 of 20 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | window |
        | partitioned | 20     |
        | partitioned | 604800 |
        | regular     | 20     |
        | regular     | 604800 |

  Rule: Nothing but the MessageId makes a copy

    @DUP-04
    Scenario: Messages that are alike but for their MessageIds are all kept
      Given a partitioned queue with duplicate detection
      When 8 messages with PartitionKey "a" and MessageId each its own are sent
      And everything is received and completed
      Then exactly 8 messages were received

    @DUP-04
    Scenario: A copy is dropped whatever else is in it
      Given a partitioned queue with duplicate detection
      When 8 messages with PartitionKey "a" and MessageId "x" are sent
      And everything is received and completed
      Then exactly 1 message was received

    @DUP-04
    Scenario Outline: A copy changes nothing about the first message, which was deferred
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" and Label "first" was sent
      When a message is received and deferred
      And a message with MessageId "x" and Label "second" is sent
      And it is received by its number and completed
      Then exactly 1 message was received
      And it has Label "first"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-06
    Scenario Outline: On a partitioned queue a copy with another key may be none
      Given a partitioned queue with duplicate detection
      And a message with <key> "a" and MessageId "x" was sent
      When a message with <key> "b" and MessageId "x" is sent
      Then it is accepted
      When everything is received and completed
      Then at most 2 messages were received

      Examples:
        | key          |
        | PartitionKey |
        | SessionId    |

    @DUP-05
    Scenario Outline: On a regular queue a copy with another key is one too
      Given a regular queue with duplicate detection
      And a message with <key> "a" and MessageId "x" was sent
      When a message with <key> "b" and MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | key          |
        | PartitionKey |
        | SessionId    |

  Rule: What became of the first message does not matter

    @DUP-07
    Scenario Outline: A copy of a message that was completed is dropped
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" was sent
      And everything was received and completed
      When a message with MessageId "x" is sent
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-07
    Scenario Outline: A copy of a message that was dead-lettered is dropped
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" was sent
      When a message is received and dead-lettered because of "unreadable"
      And a message with MessageId "x" is sent
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-07
    Scenario Outline: A copy is dropped although the first message was <fate>
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" was sent
      When a message is received and <fate>
      And a message with MessageId "x" is sent
      Then it is accepted
      And a receive finds nothing

      Examples:
        | kind        | fate     |
        | partitioned | deleted  |
        | partitioned | deferred |
        | partitioned | kept     |
        | regular     | deleted  |
        | regular     | deferred |

    @DUP-07
    Scenario Outline: A copy is dropped although the first message has expired
      Given a <kind> queue with duplicate detection <traits>
      And a message with MessageId "x" was sent that lives for 20 seconds
      When 30 seconds pass
      And a receive is tried
      And a message with MessageId "x" is sent
      Then it is accepted
      And a receive finds nothing

      Examples:
        | kind        | traits                                 |
        | partitioned | and with locks of 30 seconds           |
        | partitioned | and that dead-letters expired messages |
        | regular     | and with locks of 30 seconds           |

    @DUP-07 @TOPIC-12
    Scenario Outline: A copy is dropped whatever a subscription did with the first message
      Given a <kind> topic with duplicate detection
      And subscription "one"
      And a message with MessageId "x" was sent
      When receivers turn to subscription "one"
      And a message is received and <fate>
      And senders turn to the topic
      And a message with MessageId "x" is sent
      And receivers turn to subscription "one"
      Then a receive finds nothing

      Examples:
        | kind        | fate                                |
        | partitioned | deleted                             |
        | partitioned | deferred                            |
        | partitioned | dead-lettered because of "unreadable" |
        | regular     | deleted                             |

  Rule: What was not accepted is not remembered

    @DUP-08
    Scenario: A message that was refused is no reason to drop another
      Given a partitioned queue with duplicate detection
      And every partition is down
      When a message with MessageId "x" is sent
      Then it is refused
      When every partition is up again
      And a message with MessageId "x" is sent
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

    @DUP-09
    Scenario: An outage does not make a bus forget
      Given a partitioned queue with duplicate detection
      And a message with MessageId "x" was sent
      When every partition is down for a while
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

  Rule: Transactions and copies

    @DUP-10
    Scenario Outline: What was rolled back makes no copy
      Given a <kind> queue with duplicate detection
      And a transaction
      And a message with MessageId "x" was sent in the transaction
      When the transaction is rolled back
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-10
    Scenario Outline: What was rolled back on a topic makes no copy
      Given a <kind> topic with duplicate detection
      And subscription "one"
      And a transaction
      And a message with MessageId "x" was sent in the transaction
      When the transaction is rolled back
      And a message with MessageId "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-11
    Scenario: A copy in a transaction is dropped
      Given a partitioned queue with duplicate detection
      And a message with MessageId "x" was sent
      And a transaction
      When a message with MessageId "x" is sent in the transaction
      Then it is accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 1 message was received

    @DUP-04 @BATCH-09
    Scenario Outline: A copy of any message of a batch is dropped
      Given a <kind> queue with duplicate detection
      And a transaction
      When a message with MessageId "x" and PartitionKey "a" and one with MessageId "y" and PartitionKey "a" are sent at once
      And <again>
      Then it is accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        | again                                                                    |
        | partitioned | a message with MessageId "x" and PartitionKey "a" is sent                |
        | partitioned | a message with MessageId "y" and PartitionKey "a" is sent                |
        | partitioned | a message with MessageId "y" and PartitionKey "a" is sent in the transaction |
        | partitioned | 2 messages with MessageId "y" and PartitionKey "a" are sent at once      |
        | regular     | a message with MessageId "y" and PartitionKey "a" is sent                |

    @DUP-11
    Scenario Outline: A message that is sent twice in a transaction arrives once
      Given a <kind> queue with duplicate detection
      And a transaction
      When <sent> in the transaction
      Then it is accepted
      When the transaction is committed
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | sent                                                        |
        | partitioned | 2 messages with MessageId "x" are sent at once              |
        | partitioned | 2 messages with MessageId "x" and PartitionKey "a" are sent at once |
        | regular     | 2 messages with MessageId "x" are sent at once              |

    @DUP-11
    Scenario Outline: Messages of one transaction that have one MessageId arrive once
      Given a <kind> queue with duplicate detection
      And a transaction
      And 3 messages with <key> were sent in the transaction
      When the transaction is committed
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | key                                |
        | partitioned | MessageId "x"                      |
        | partitioned | MessageId "x" and PartitionKey "a" |
        | regular     | MessageId "x"                      |

    @DUP-04
    Scenario Outline: A copy of what a commit brought is dropped
      Given a <kind> queue with duplicate detection
      And a transaction
      When a message with MessageId "x" is sent in the transaction
      And the transaction is committed
      And a message with MessageId "x" is sent
      Then it is accepted
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-11 @TOPIC-12
    Scenario Outline: A copy that a commit brings to a topic is dropped
      Given a <kind> topic with duplicate detection
      And subscription "one"
      And a message with MessageId "x" was sent
      And a transaction
      When a message with MessageId "x" is sent in the transaction
      And the transaction is committed
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A topic detects copies as a queue does

    @DUP-02 @TOPIC-12
    Scenario Outline: A topic knows a MessageId for the whole of its window
      Given a <kind> topic with duplicate detection
      And subscription "one"
      And a message with MessageId "x" was sent
      When only 500 of 600 seconds pass
      And a message with MessageId "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @DUP-09 @TOPIC-12
    Scenario: An outage does not make a topic forget
      Given a partitioned topic with duplicate detection
      And subscription "one"
      And a message with MessageId "x" was sent
      When every partition is down for a while
      And a message with MessageId "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

    @BATCH-09 @TOPIC-12
    Scenario Outline: A copy in a batch that is sent to a topic is dropped alone
      Given a <kind> topic with duplicate detection
      And subscription "one"
      And a message with PartitionKey "a" and MessageId "x" was sent
      When a message with PartitionKey "a" and MessageId "x" and one with PartitionKey "a" and MessageId "y" are sent at once
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Without a MessageId there is nothing to go by

    @DUP-12
    Scenario: A message without MessageId and key may be refused
      Given a partitioned queue with duplicate detection
      When a message without key is sent
      Then it is accepted or refused

  Rule: Each entity detects its own copies

    @DUP-13
    Scenario Outline: A message is no copy of one that was sent to another queue
      Given a <kind> queue with duplicate detection
      And another <other> queue with duplicate detection
      When a message with MessageId "x" is sent
      And a message with MessageId "x" is sent to the other one
      And a message with MessageId "x" is sent to the other one
      Then it is accepted
      And the other one gives exactly 1 messages
      When everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        | other       |
        | partitioned | partitioned |
        | partitioned | regular     |
        | regular     | partitioned |
        | regular     | regular     |

    @DUP-13
    Scenario: Not even when that one has been received
      Given a partitioned queue with duplicate detection
      And another partitioned queue with duplicate detection
      And a message with MessageId "x" was sent
      And everything was received and completed
      When a message with MessageId "x" is sent to the other one
      Then the other one gives exactly 1 messages
