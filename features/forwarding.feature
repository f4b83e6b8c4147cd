Feature: Automatic forwarding
  A queue or subscription can forward its messages to another queue or topic. Forwarding works from,
  to and between partitioned entities. The key of a message goes with it and selects its partition
  anew at each destination.

  Rule: Forwarding works whether or not its ends are partitioned

    @FWD-01
    Scenario: From a partitioned queue to a regular one
      Given a regular destination "end"
      And a partitioned source of "end"
      When 24 messages without key are sent
      And receivers turn to "end"
      And messages are awaited until there are 24
      Then exactly 24 messages were received

    @FWD-02
    Scenario: From a regular queue to a partitioned one
      Given a partitioned destination "end"
      And a regular source of "end"
      When 24 messages without key are sent
      And receivers turn to "end"
      And messages are awaited until there are 24
      Then exactly 24 messages were received

    @FWD-03
    Scenario: From one partitioned queue to another
      Given a partitioned destination "end"
      And a partitioned source of "end"
      When 24 messages without key are sent
      And receivers turn to "end"
      And messages are awaited until there are 24
      Then exactly 24 messages were received

    @FWD-04
    Scenario: From a subscription of a partitioned topic to a partitioned queue
      Given a partitioned destination "end"
      And a partitioned topic
      And subscription "one" that forwards to "end"
      And subscription "two"
      When 8 messages without key are sent
      And receivers turn to "end"
      And messages are awaited until there are 8
      Then exactly 8 messages were received
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 8 messages were received

    @FWD-04
    Scenario: From a partitioned queue to a topic
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And a partitioned source of "news"
      When 8 messages with PartitionKey "a" are sent
      And receivers turn to subscription "two"
      And messages are awaited until there are 8
      Then exactly 8 messages were received

    @FWD-06
    Scenario: From one regular queue to another
      Given a regular destination "end"
      And a regular source of "end"
      When 24 messages without key are sent
      And receivers turn to "end"
      And messages are awaited until there are 24
      Then exactly 24 messages were received

    @FWD-05
    Scenario Outline: A queue that is changed to forward passes on what is sent from then on
      Given a <kind> destination "end"
      And a <kind> queue
      When the queue is updated to forward to "end"
      Then it is accepted
      When 8 messages with PartitionKey "a" are sent
      And a receive is tried
      And receivers turn to "end"
      And messages are awaited until there are 8
      Then exactly 8 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-05
    Scenario Outline: A source whose forwarding has ended keeps what is sent from then on
      Given a <kind> destination "end"
      And a <kind> source of "end"
      When the source is updated to forward no more
      Then it is accepted
      When 8 messages with PartitionKey "a" are sent
      And messages are awaited until there are 8
      Then exactly 8 messages were received
      When receivers turn to "end"
      And a receive is tried
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-05
    Scenario Outline: A source that is changed to forward elsewhere passes on to there what is sent from then on
      Given a <kind> destination "end"
      And a <kind> destination "other"
      And a <kind> source of "end"
      When the source is updated to forward to "other"
      Then it is accepted
      When 4 messages with PartitionKey "a" are sent
      And receivers turn to "other"
      And messages are awaited until there are 4
      Then exactly 4 messages were received
      When receivers turn to "end"
      And a receive is tried
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-04 @FILTER-03
    Scenario Outline: What is forwarded to a topic is filtered by its subscriptions
      Given a <kind> topic
      And subscription "one" that takes messages with Label "x"
      And subscription "two" that takes messages where color = 'red'
      And a <source> source of "news"
      When a message with Label "x" and property color "blue" is sent
      And a message with Label "y" and property color "red" is sent
      And receivers turn to subscription "one"
      And messages are awaited until there are 1
      Then exactly 1 message was received
      And it has Label "x"
      When receivers turn to subscription "two"
      And messages are awaited until there are 1
      Then exactly 1 message was received
      And it has property color "red"

      Examples:
        | kind        | source      |
        | partitioned | partitioned |
        | partitioned | regular     |
        | regular     | partitioned |

    @FWD-05
    Scenario: Forwarding that was ended can begin again
      Given a partitioned destination "end"
      And a partitioned source of "end"
      When the source is updated to forward no more
      And the source is updated to forward to "end"
      Then it is accepted
      When 8 messages without key are sent
      And receivers turn to "end"
      And messages are awaited until there are 8
      Then exactly 8 messages were received

  Rule: The key goes with the message, and places it anew

    @FWD-07
    Scenario Outline: A message has at its destination the properties that it was sent with
      Given a partitioned destination "end"
      And a chain of 2 partitioned queues that ends in "end"
      When a message with <properties> is sent
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then exactly 1 message was received
      And it has <properties>

      Examples:
        | properties                                           |
        | SessionId "a" and MessageId "x"                      |
        | PartitionKey "a" and MessageId "x"                   |
        | SessionId "a" and PartitionKey "a" and MessageId "x" |
        | MessageId "x"                                        |

    @FWD-08
    Scenario Outline: A forwarded message is where its key leads at the destination
      Given a partitioned destination "end"
      And a <kind> source of "end"
      When 4 messages with <property> "a" are sent
      And receivers turn to "end"
      And 4 messages with <property> "a" are sent
      And messages are awaited until there are 8
      Then exactly 8 messages were received
      And all that were sent are in one partition

      Examples:
        | kind        | property     |
        | partitioned | SessionId    |
        | partitioned | PartitionKey |
        | regular     | PartitionKey |

    @FWD-08
    Scenario: At the third hop a key still leads where it leads
      Given a partitioned destination "end"
      And a chain of 3 partitioned queues that ends in "end"
      When 6 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 6
      Then all that were sent are in one partition

    @FWD-09
    Scenario: Where a message was at its source decides nothing
      Given a partitioned destination "end"
      And a partitioned source of "end"
      When 16 messages without key are sent
      And receivers turn to "end"
      And messages are awaited until there are 16
      Then exactly 16 messages were received

    @FWD-10
    Scenario: Without a key it is in whichever partition
      Given a partitioned destination "end"
      And a regular source of "end"
      When 16 messages without key are sent
      And receivers turn to "end"
      And messages are awaited until there are 16
      Then exactly 16 messages were received

    @FWD-22
    Scenario Outline: A key waits at the destination for its partition
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And the partition that took it is down
      And a <kind> source of "orders"
      When 4 messages with PartitionKey "a" are sent
      And receivers turn to "orders"
      And a receive is tried
      And the partition is up again
      And messages are awaited until there are 5
      Then exactly 5 messages were received
      And all that were sent are in one partition

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-24
    Scenario: Without a key it may go round an outage of the destination
      Given a partitioned queue
      And 1 partitions are down
      And a partitioned source of "orders"
      When 32 messages without key are sent
      And receivers turn to "orders"
      And 10 receives are tried
      And every partition is up again
      And messages are awaited until there are 32
      Then exactly 32 messages were received

    @FWD-11
    Scenario: A destination with duplicate detection makes the MessageId a key
      Given a partitioned destination "end" with duplicate detection over 20 seconds
      And a partitioned source of "end"
      When a message with MessageId "x" is sent
      And receivers turn to "end"
      And messages are awaited until there is 1
      And 20 seconds pass
      And senders turn to the source
      And a message with MessageId "x" is sent
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then all that were sent are in one partition

    @FWD-12
    Scenario: A MessageId that was the key at the source may be none at the destination
      Given a partitioned destination "end"
      And a partitioned source of "end" with duplicate detection
      When 8 messages with MessageId each its own are sent
      And receivers turn to "end"
      And messages are awaited until there are 8
      Then exactly 8 messages were received

    @FWD-13
    Scenario Outline: A copy is dropped at the destination
      Given a <kind> destination "end" with duplicate detection
      And a partitioned source of "end"
      When receivers turn to "end"
      And a message with MessageId "x" is sent
      And senders turn to the source
      And a message with MessageId "x" is sent
      And receivers turn to "end"
      And messages are awaited until there are 2
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A forwarded message is in one place

    @FWD-14
    Scenario Outline: What was forwarded is received once
      Given a <destination> destination "end"
      And a <source> source of "end"
      When 8 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 8
      Then exactly 8 messages were received
      When senders turn to the source
      And a receive is tried
      Then exactly 8 messages were received

      Examples:
        | source      | destination |
        | partitioned | partitioned |
        | regular     | regular     |

    @FWD-15
    Scenario Outline: A source gives nothing itself
      Given a <kind> destination "end"
      And a <kind> source of "end"
      When 4 messages without key are sent
      And a receive is tried
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A chain has at most so many hops

    @FWD-16
    Scenario Outline: A message passes three hops
      Given a <kind> destination "end"
      And a chain of 3 <kind> queues that ends in "end"
      When 4 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 4
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-18
    Scenario Outline: A message does not arrive at a fifth destination
      Given a <kind> destination "end"
      And a chain of 5 <kind> queues that ends in "end"
      When 4 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 1
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-17
    Scenario Outline: A message may pass a fourth hop
      Given a <kind> destination "end"
      And a chain of 4 <kind> queues that ends in "end"
      When a message with PartitionKey "a" is sent
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then at most 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Destinations and sources have to fit

    @FWD-26
    Scenario Outline: A destination that requires sessions gives what belongs to a session
      Given a <kind> destination "end" that requires sessions and with locks of 5 minutes
      And a <kind> source of "end"
      When 4 messages with SessionId "a" are sent
      And receivers turn to "end"
      And session "a" is accepted
      And 4 messages of session "a" are awaited
      And everything of session "a" is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-27
    Scenario Outline: A destination that requires sessions gives nobody what belongs to none
      Given a <kind> destination "end" that requires sessions
      And a <kind> source of "end"
      When a message with PartitionKey "a" is sent
      And a message with SessionId "a" is sent
      And receivers turn to "end"
      And session "a" is accepted
      And 1 messages of session "a" are awaited
      And everything of session "a" is received and completed
      Then exactly 1 message was received
      And it has SessionId "a"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-25
    Scenario Outline: A source that requires sessions does not forward
      Given a <kind> destination "end"
      When a <kind> queue named "source" that forwards to "end" and that requires sessions is requested
      And senders turn to the source
      And a message with SessionId "a" is sent
      And receivers turn to "end"
      And messages are awaited until there are 1
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-28
    Scenario: Keys that differ may end the way
      Given a partitioned destination "end"
      And a regular source of "end"
      When a message with SessionId "a" and PartitionKey "b" is sent
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then at most 1 message was received

    @FWD-29
    Scenario: An update names no destination that does not exist
      Given a partitioned queue
      When the queue is updated to forward to "nowhere"
      Then it is refused
      When 4 messages without key are sent
      And messages are awaited until there are 4
      Then exactly 4 messages were received

    @FWD-29
    Scenario: The destination of dead letters must exist
      Given a partitioned destination "end"
      When a partitioned queue named "source" that forwards its dead letters to "nowhere" is requested
      Then it is refused
      When senders turn to the source
      And a message without key is sent
      Then it is refused

    @FWD-29
    Scenario Outline: A destination must exist
      Given a <kind> destination "end"
      When a <kind> queue named "source" that forwards to "nowhere" is requested
      Then it is refused
      When senders turn to the source
      And a message without key is sent
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: What cannot go on is a dead letter of its source

    @FWD-19
    Scenario Outline: A destination that is disabled is given nothing
      Given a <kind> destination "end"
      And a <kind> source of "end"
      When "end" is disabled for senders
      And a message with PartitionKey "a" is sent
      And receivers turn to "end"
      And a receive is tried
      Then exactly 0 messages were received
      When a message is awaited among the dead letters of the source
      Then exactly 1 message was received
      And it has PartitionKey "a"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-19
    Scenario: What is disabled altogether has nothing of it either
      Given a partitioned destination "end"
      And a partitioned source of "end"
      When "end" is disabled
      And a message without key is sent
      And a message is awaited among the dead letters of the source
      Then exactly 1 message was received
      When "end" is active again
      And receivers turn to "end"
      And a receive is tried
      Then exactly 0 messages were received

    @FWD-20
    Scenario Outline: What was to go to a destination that is deleted is not lost
      Given a <kind> destination "end"
      And a <kind> source of "end"
      When "end" is deleted
      Then it is accepted
      When a message with PartitionKey "a" is sent
      And a message is awaited among the dead letters of the source
      Then exactly 1 message was received
      And it has PartitionKey "a"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-21
    Scenario: What a full destination has no room for is not lost
      Given a regular queue
      And messages without key were sent until there was no room for more
      And a regular source of "orders"
      When a large message without key is sent
      And a message is awaited among the dead letters of the source, unless it is in "orders"
      Then exactly 1 message was received

    @FWD-23
    Scenario Outline: What becomes due while the source cannot be reached arrives later
      Given a partitioned destination "end"
      And a partitioned source of "end"
      And a message with <property> "a" was scheduled in 60 seconds
      When every partition goes down
      And 120 seconds pass
      And every partition is up again
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then exactly 1 message was received

      Examples:
        | property     |
        | PartitionKey |
        | SessionId    |

    @FWD-27
    Scenario: What belongs to no session is not lost before a destination that requires them
      Given a partitioned destination "end" that requires sessions
      And a partitioned source of "end"
      When a message with PartitionKey "a" is sent
      And a message is awaited among the dead letters of the source and of "end"
      Then exactly 1 message was received

    @FWD-32
    Scenario Outline: What has arrived is no dead letter of transfers
      Given a <kind> destination "end"
      And a <kind> source of "end"
      When 4 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 4
      Then exactly 4 messages were received
      When senders turn to the source
      And a receive among its dead letters of transfers is tried
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-32
    Scenario: What was never forwarded is no dead letter of transfers
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      When a receive among its dead letters of transfers is tried
      Then exactly 0 messages were received
      When messages among its dead letters of transfers are peeked
      Then exactly 0 messages are shown

    @FWD-32
    Scenario: No other dead letters are counted as those of transfers
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      Then in the end it is described with 0 dead letters of transfers

  Rule: Each destination gets what is for it, in whatever order

    @FWD-30 @FWD-07
    Scenario Outline: What a subscription forwards arrives with its values
      Given a partitioned destination "end"
      And a <kind> topic
      And subscription "one" that forwards to "end"
      When a message with property yes true and property number 2.5 and Label "x" is sent
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then it has property yes true and property number 2.5 and Label "x"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-30 @FILTER-21
    Scenario Outline: What an action has changed is forwarded as it is changed
      Given a partitioned destination "end"
      And a <kind> topic
      And subscription "one" that forwards to "end"
      When rule "acts" of subscription "one" is added that does SET size = 6: everything
      And rule "$Default" of subscription "one" is removed
      And a message with property size 5 is sent
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then exactly one of them has property size 6

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-30
    Scenario: Each subscription that forwards does so by itself
      Given a partitioned destination "end"
      And a partitioned destination "other"
      And a partitioned topic
      And subscription "one" that forwards to "end"
      And subscription "two" that forwards to "other"
      When 4 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 4
      Then exactly 4 messages were received
      When receivers turn to "other"
      And messages are awaited until there are 4
      Then exactly 4 messages were received

    @FWD-31
    Scenario: Forwarded messages may arrive in another order
      Given a partitioned destination "end"
      And a partitioned source of "end"
      When 8 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 8
      Then exactly 8 messages were received

  Rule: What is sent in a transaction is forwarded after its commit

    @FWD-33
    Scenario Outline: What is not committed is not forwarded
      Given a <kind> destination "end"
      And a <kind> source of "end"
      And a transaction
      When 2 messages with PartitionKey "a" are sent in the transaction
      And receivers turn to "end"
      And a receive is tried
      Then exactly 0 messages were received
      When the transaction is committed
      And messages are awaited until there are 2
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-33
    Scenario Outline: What was rolled back is never forwarded
      Given a <kind> destination "end"
      And a <kind> source of "end"
      And a transaction
      When 2 messages with PartitionKey "a" are sent in the transaction
      And the transaction is rolled back
      And receivers turn to "end"
      And messages are awaited until there are 1
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-34
    Scenario Outline: Where messages go to is nothing to the transaction in which they are sent
      Given a partitioned destination "end" <traits>
      And a partitioned source of "end"
      And a transaction
      When a message with PartitionKey "a" is sent in the transaction
      Then it is accepted
      When the transaction is committed
      Then it is accepted

      Examples:
        | traits                   |
        | that requires sessions   |
        | with duplicate detection |

  Rule: Dead letters can be forwarded

    @FWD-35
    Scenario Outline: A dead letter arrives where the dead letters go
      Given a <kind> destination "end"
      And a <kind> source of dead letters for "end"
      And a message with PartitionKey "a" and MessageId "x" was sent
      When a message is received and dead-lettered because of "unreadable"
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then exactly 1 message was received
      And it is a dead letter because of "unreadable"
      And it has PartitionKey "a" and MessageId "x"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-35
    Scenario: What was delivered too often goes there too
      Given a partitioned destination "end"
      And a partitioned source of dead letters for "end"
      And a message without key was sent
      When one message is received and abandoned, 10 times by default
      And a receive is tried
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then exactly 1 message was received

    @FWD-35 @TTL-07
    Scenario Outline: What expires goes where the dead letters go
      Given a <kind> destination "end"
      And a <kind> source of dead letters for "end" that dead-letters expired messages
      And a message with PartitionKey "a" and MessageId "x" was sent that lives for 20 seconds
      When 20 seconds pass
      And a receive is tried
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then exactly 1 message was received
      And it is a dead letter because of "TTLExpiredException"
      And it has PartitionKey "a" and MessageId "x"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-35 @TTL-07
    Scenario Outline: What is forwarded as a dead letter may expire at its destination
      Given a <kind> destination "end" with a time to live of 20 seconds and that dead-letters expired messages
      And a partitioned source of dead letters for "end"
      And a message with PartitionKey "a" was sent
      When a message is received and dead-lettered because of "unreadable"
      And 180 seconds pass
      And receivers turn to "end"
      And a receive is tried
      And receivers turn to its dead letters
      And messages are awaited until there is 1
      Then exactly 1 message was received
      And it is a dead letter because of "TTLExpiredException"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-35
    Scenario Outline: What is dead-lettered in one request or by a commit goes where the dead letters go
      Given a <kind> destination "end"
      And a <kind> source of dead letters for "end"
      And a message with PartitionKey "a" was sent
      And a transaction
      When <first>
      And <then>
      And the transaction is committed
      And receivers turn to "end"
      And messages are awaited until there is 1
      Then exactly 1 message was received

      Examples:
        | kind        | first                             | then                                               |
        | partitioned | a message is received and kept    | the message kept is dead-lettered in the transaction |
        | partitioned | each of them is received and kept | all of them are dead-lettered in one request       |
        | regular     | a message is received and kept    | the message kept is dead-lettered in the transaction |
        | regular     | each of them is received and kept | all of them are dead-lettered in one request       |

    @FWD-35
    Scenario: Dead letters of a subscription are forwarded
      Given a partitioned destination "end"
      And a partitioned topic
      And subscription "one" that forwards its dead letters to "end"
      And 3 messages without key were sent
      When receivers turn to subscription "one"
      And each message is received and dead-lettered
      And receivers turn to "end"
      And messages are awaited until there are 3
      Then exactly 3 messages were received

    @FWD-36
    Scenario Outline: The dead-letter queue gives none of them
      Given a <kind> destination "end"
      And a <kind> source of dead letters for "end"
      And 3 messages without key were sent
      When each message is received and dead-lettered
      And a receive among its dead letters is tried
      Then exactly 0 messages were received
      When receivers turn to "end"
      And messages are awaited until there are 3
      Then exactly 3 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |
