Feature: Managing topics and subscriptions
  What a topic and a subscription are created as, what can be changed of them and what is told, and
  what a deletion takes along. What is said of every entity is tried with queues beside it.

  Rule: A topic is created once, and is what it was created as

    @MGMT-01
    Scenario: A topic that is created with the option is partitioned
      Given a partitioned topic
      Then the topic is told to be partitioned

    @MGMT-03
    Scenario: A topic that is created without the option is not partitioned
      Given a regular topic
      Then the topic is told to be regular

    @MGMT-11
    Scenario Outline: A topic's duplicate detection and its window are told
      Given a <kind> topic with duplicate detection over 30 seconds
      Then the topic is told to detect duplicates over 30 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-11
    Scenario Outline: A topic that detects no duplicates is told to detect none
      Given a <kind> topic with a time to live of 60 seconds
      Then the topic is told to detect no duplicates
      And the topic is told to have a time to live of 60 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-11
    Scenario Outline: A subscription's settings are told, and not those of another one
      Given a <kind> topic
      And subscription "one" with locks of 5 seconds
      And subscription "two" that requires sessions
      When receivers turn to subscription "one"
      Then it is told to have locks of 5 seconds
      And it is told to require no sessions
      When receivers turn to subscription "two"
      Then it is told to have locks of 60 seconds
      And it is told to require sessions

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-09
    Scenario Outline: A second topic of the same name is refused, and the first one stays
      Given a <first> topic
      And subscription "one"
      And 4 messages with PartitionKey "a" were sent
      When a <second> topic is created
      Then it is refused because it exists already
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | first       | second      |
        | partitioned | partitioned |
        | partitioned | regular     |
        | regular     | partitioned |

    @MGMT-09
    Scenario Outline: No topic gets the name of a queue
      Given a <kind> queue
      And 4 messages with PartitionKey "a" were sent
      When a topic of the queue's name is created
      Then it is refused because it exists already
      When everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-09
    Scenario Outline: No queue gets the name of a topic
      Given a <kind> topic
      And subscription "one"
      When a queue under the topic's name, <kind>, is created
      Then it is refused because it exists already
      And the list of subscriptions names one

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-09
    Scenario Outline: A second subscription of the same name is refused, and the first one stays
      Given a <kind> topic
      And subscription "one"
      And 4 messages with PartitionKey "a" were sent
      When subscription "one" is created
      Then it is refused because it exists already
      When receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Only what exists can be used, and lists name it

    @MGMT-10
    Scenario Outline: A topic that does not exist cannot be managed
      Given an empty namespace
      When a topic that does not exist is <asked>
      Then it is refused because it is not found

      Examples:
        | asked                       |
        | got                         |
        | updated                     |
        | deleted                     |
        | asked for its subscriptions |

    @MGMT-10
    Scenario Outline: A subscription that does not exist cannot be used
      Given a topic
      And subscription "one"
      When subscription "two" is asked: <asked>
      Then it is refused because it is not found

      Examples:
        | asked         |
        | received from |
        | peeked        |
        | got           |
        | updated       |
        | deleted       |

    @MGMT-10
    Scenario: A topic that was deleted is not found
      Given a partitioned topic
      When the topic is deleted
      Then it is accepted
      When the topic is deleted
      Then it is refused because it is not found

    @MGMT-16
    Scenario: A list of topics names every topic once
      Given a partitioned topic
      And a second topic, regular
      And a queue beside it, partitioned
      And subscription "one"
      Then the list of topics names news and events

    @MGMT-16
    Scenario: A list of topics does not name what was deleted
      Given a regular topic
      And a second topic, regular
      And the topic was deleted
      Then the list of topics names events

    @MGMT-16
    Scenario Outline: A list of subscriptions names each of the topic's once
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      Then the list of subscriptions names one and two
      When subscription "one" is deleted
      Then the list of subscriptions names two

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-16
    Scenario: A new topic has no subscriptions
      Given a topic
      Then the list of subscriptions names none

    @TOPIC-24
    Scenario Outline: A topic tells how many subscriptions it has
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And subscription "three"
      Then in the end the topic is told to have 3 subscriptions
      When subscription "two" is deleted
      Then in the end the topic is told to have 2 subscriptions

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-20
    Scenario: The copies of one subscription are counted, in all partitions
      Given a partitioned topic
      And subscription "one"
      And subscription "two"
      And 64 messages without key were sent
      When receivers turn to subscription "one"
      And a message is received and deleted
      Then in the end its message count is 63
      When receivers turn to subscription "two"
      Then in the end its message count is 64

  Rule: Some settings of topics and subscriptions are fixed, others can be changed

    @MGMT-04
    Scenario Outline: The partitioning option of a topic is not changed by an update
      Given a <kind> topic
      When the topic is updated to be <other>
      Then it is accepted or refused
      And the topic is told to be <kind>

      Examples:
        | kind        | other       |
        | partitioned | regular     |
        | regular     | partitioned |

    @MGMT-14
    Scenario Outline: An update does not change whether a topic detects duplicates
      Given a <kind> topic <traits>
      When the topic is updated <change>
      Then it is accepted or refused
      And the topic is told <told>

      Examples:
        | kind        | traits                   | change                  | told                    |
        | partitioned | without sessions         | to detect duplicates    | to detect no duplicates |
        | partitioned | with duplicate detection | to detect no duplicates | to detect duplicates    |
        | regular     | without sessions         | to detect duplicates    | to detect no duplicates |
        | regular     | with duplicate detection | to detect no duplicates | to detect duplicates    |

    @MGMT-14
    Scenario: A topic that does not detect duplicates takes copies after an update that asks for it
      Given a partitioned topic
      And subscription "one"
      When the topic is updated to detect duplicates
      Then it is accepted or refused
      When 2 messages with MessageId "x" are sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 2 messages were received

    @MGMT-13
    Scenario Outline: An update does not change whether a subscription requires sessions
      Given a <kind> topic
      And subscription "plain"
      And subscription "sessions" that requires sessions
      When receivers turn to subscription "plain"
      And it is updated to require sessions
      Then it is accepted or refused
      And it is told to require no sessions
      When receivers turn to subscription "sessions"
      And it is updated to require no sessions
      Then it is accepted or refused
      And it is told to require sessions

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12
    Scenario Outline: An update of a subscription's locks is told and in force, and of no other's
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And a message without key was sent
      When receivers turn to subscription "one"
      And its locks are updated to 5 seconds
      Then it is accepted
      And it is told to have locks of 5 seconds
      When a message is received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 1 message was received
      When receivers turn to subscription "two"
      Then it is told to have locks of 60 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-17
    Scenario: An update of a subscription is in force in every partition
      Given a partitioned topic
      And subscription "one"
      And 64 messages without key were sent
      When receivers turn to subscription "one"
      And its locks are updated to 5 seconds
      Then it is accepted
      When all messages are received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 64 messages were received by then

    @MGMT-12
    Scenario Outline: An update of a subscription's time to live is in force for what comes after it
      Given a <kind> topic
      And subscription "one" with a time to live of 60 seconds
      And subscription "two" with a time to live of 60 seconds
      And a message with MessageId "early" was sent
      When receivers turn to subscription "one"
      And its time to live is updated to 5 seconds
      Then it is accepted
      When senders turn to the topic
      And a message with MessageId "late" is sent
      And 20 seconds pass
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has MessageId "early"
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 2 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12
    Scenario Outline: An update of a topic's time to live is in force for what comes after it
      Given a <kind> topic with a time to live of 60 seconds
      And subscription "one"
      And a message with MessageId "early" was sent
      When the topic's time to live is updated to 5 seconds
      Then it is accepted
      And the topic is told to have a time to live of 5 seconds
      When a message with MessageId "late" is sent
      And 20 seconds pass
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received
      And it has MessageId "early"

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @FWD-05
    Scenario Outline: A subscription that is changed to forward passes on what is sent from then on
      Given a <kind> destination "end"
      And a <kind> topic
      And subscription "one"
      And subscription "two"
      When receivers turn to subscription "one"
      And the queue is changed to forward to "end"
      Then it is accepted
      When senders turn to the topic
      And 8 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 8
      Then exactly 8 messages were received
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 8 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A deleted topic takes everything with it

    @TOPIC-22
    Scenario Outline: No subscription of a deleted topic can be used
      Given a <kind> topic
      And subscription "one"
      And 4 messages with PartitionKey "a" were sent
      And the topic was deleted
      When subscription "one" is asked: <asked>
      Then it is refused because it is not found

      Examples:
        | kind        | asked         |
        | partitioned | received from |
        | partitioned | peeked        |
        | partitioned | got           |
        | partitioned | updated       |
        | partitioned | deleted       |
        | regular     | received from |
        | regular     | got           |

    @TOPIC-22
    Scenario Outline: A topic that is created again has no subscriptions
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And the topic was deleted
      When the topic is created again as a <kind> topic
      Then the list of subscriptions names none
      When subscription "one" is asked: received from
      Then it is refused because it is not found

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-22
    Scenario: A subscription of a topic that is created again begins empty, in every partition
      Given a partitioned topic
      And subscription "one"
      And 64 messages without key were sent
      And the topic was deleted
      When the topic is created again as a partitioned topic
      And subscription "one" is created again
      And receivers turn to subscription "one"
      Then a receive finds nothing
      When senders turn to the topic
      And a message without key is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

    @MGMT-15
    Scenario: A lock from before a topic was made anew settles nothing
      Given a partitioned topic
      And subscription "one"
      And a message without key was sent
      When a message of subscription "one" is received, and the topic made anew
      Then it is refused

    @MGMT-15
    Scenario: A topic that is created again remembers no MessageId
      Given a partitioned topic with duplicate detection
      And subscription "one"
      And a message with MessageId "x" was sent
      And the topic was deleted
      When the topic is created again as a partitioned topic with duplicate detection
      And subscription "one" is created again
      And a message with MessageId "x" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

    @MGMT-05
    Scenario Outline: Created again, a topic may have the other option
      Given a <before> topic
      And the topic was deleted
      When the topic is created again as a <after> topic
      Then the topic is told to be <after>

      Examples:
        | before      | after       |
        | partitioned | regular     |
        | regular     | partitioned |

  Rule: A deleted subscription takes its own copies, and nothing else

    @TOPIC-23
    Scenario Outline: The other subscriptions keep what they hold, and get what is sent later
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And subscription "three"
      And 4 messages with PartitionKey "a" were sent
      When subscription "two" is deleted
      Then it is accepted
      When 4 messages with PartitionKey "a" are sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 8 messages were received
      When receivers turn to subscription "three"
      And everything is received and completed
      Then exactly 8 messages were received
      When subscription "two" is asked: received from
      Then it is refused because it is not found

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-23
    Scenario: A topic takes messages although its only subscription is gone
      Given a partitioned topic
      And subscription "one"
      And subscription "one" was deleted
      When a message with PartitionKey "a" is sent
      Then it is accepted
      When subscription "two" is created
      Then it is accepted
      When a message with PartitionKey "a" is sent
      And receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 1 message was received

    @MGMT-15
    Scenario Outline: A subscription that is created again begins empty
      Given a <kind> topic
      And subscription "one"
      And 64 messages without key were sent
      And subscription "one" was deleted
      When subscription "one" is created again
      And receivers turn to subscription "one"
      Then a receive finds nothing
      When senders turn to the topic
      And a message without key is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: A partition that cannot be reached may make management of topics fail

    @MGMT-18
    Scenario Outline: In an outage the deletion of a topic or a subscription may fail
      Given a partitioned topic
      And subscription "one"
      And one of its partitions is down
      When <what> is deleted
      Then it is accepted or refused

      Examples:
        | what               |
        | the topic          |
        | subscription "one" |

    @MGMT-18
    Scenario: In an outage an update of a subscription may fail
      Given a partitioned topic
      And subscription "one"
      And one of its partitions is down
      When receivers turn to subscription "one"
      And its locks are updated to 5 seconds
      Then it is accepted or refused

    @MGMT-18
    Scenario: In an outage an update of a topic may fail
      Given a partitioned topic
      And one of its partitions is down
      When the topic's time to live is updated to 5 seconds
      Then it is accepted or refused

    @MGMT-19
    Scenario Outline: A deletion that failed can be repeated after the outage
      Given a partitioned topic
      And subscription "one"
      And 64 messages without key were sent
      And one of its partitions is down
      When <what> is deleted
      And that partition of the topic is up again
      And <what> is deleted
      Then it is accepted, or refused because it is not found

      Examples:
        | what               |
        | the topic          |
        | subscription "one" |

    @MGMT-19
    Scenario: A topic whose deletion was repeated is gone with its subscriptions, in every partition
      Given a partitioned topic
      And subscription "one"
      And 64 messages without key were sent
      And one of its partitions is down
      When the topic is deleted
      And that partition of the topic is up again
      And the topic is deleted
      And the topic is created again as a partitioned topic
      Then the list of subscriptions names none
      When subscription "one" is created again
      And receivers turn to subscription "one"
      Then a receive finds nothing

    @MGMT-19
    Scenario: An update of a subscription that failed can be repeated, and ends whole
      Given a partitioned topic
      And subscription "one"
      And 64 messages without key were sent
      And one of its partitions is down
      When receivers turn to subscription "one"
      And its locks are updated to 5 seconds
      And that partition of the topic is up again
      And its locks are updated to 5 seconds
      And all messages are received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 64 messages were received by then

    @MGMT-21
    Scenario: With a partition down, a topic and its subscriptions are told to be limited
      Given a partitioned topic
      And subscription "one"
      And one of its partitions is down
      Then in the end the topic's availability is limited
      When receivers turn to subscription "one"
      Then in the end its availability is limited

    @MGMT-22
    Scenario: After an outage a topic and its subscriptions are not limited any more
      Given a partitioned topic
      And subscription "one"
      Then in the end the topic's availability is available
      When every partition is down for a while
      Then in the end the topic's availability is available
      When receivers turn to subscription "one"
      Then in the end its availability is available

  Rule: A topic can be closed to senders, a subscription to receivers

    @MGMT-26
    Scenario Outline: A topic that is disabled takes nothing
      Given a <kind> topic
      And subscription "one"
      When the topic is <status>
      And a message with PartitionKey "a" is sent
      Then it is refused because the entity is disabled
      When the topic is active again
      And receivers turn to subscription "one"
      And a receive is tried
      Then exactly 0 messages were received
      When senders turn to the topic
      And a message with PartitionKey "a" is sent
      Then it is accepted

      Examples:
        | kind        | status               |
        | partitioned | disabled             |
        | partitioned | disabled for senders |
        | regular     | disabled             |
        | regular     | disabled for senders |

    @MGMT-26
    Scenario: Nothing can be scheduled on a topic that is disabled
      Given a partitioned topic
      When the topic is disabled
      And a message with PartitionKey "a" is scheduled in 5 seconds
      Then it is refused because the entity is disabled

    @MGMT-27
    Scenario Outline: A subscription that is disabled gives nothing, and keeps what it has
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And 4 messages with PartitionKey "a" were sent
      When subscription "one" is <status>
      And receivers turn to subscription "one"
      And a message is asked for
      Then it is refused because the entity is disabled
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 4 messages were received
      When subscription "one" is active again
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        | status                 |
        | partitioned | disabled               |
        | partitioned | disabled for receivers |
        | regular     | disabled               |
        | regular     | disabled for receivers |

    @TOPIC-25
    Scenario Outline: What is sent while a subscription is closed to receivers comes to it
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      When subscription "one" is disabled for receivers
      And 4 messages with PartitionKey "a" are sent
      And subscription "one" is active again
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 4 messages were received
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @TOPIC-26
    Scenario Outline: Subscriptions of a disabled topic give what they hold
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And 4 messages with PartitionKey "a" were sent
      When the topic is <status>
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 4 messages were received
      When receivers turn to subscription "two"
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        | status               |
        | partitioned | disabled             |
        | partitioned | disabled for senders |
        | regular     | disabled             |
        | regular     | disabled for senders |

    @MGMT-27
    Scenario: A topic may refuse to be closed to receivers, of which it has none
      Given a topic
      When the topic is asked to be disabled for receivers
      Then it is accepted or refused

    @MGMT-26
    Scenario: A subscription may refuse to be closed to senders, of which it has none
      Given a topic
      And subscription "one"
      When subscription "one" is asked to be disabled for senders
      Then it is accepted or refused
