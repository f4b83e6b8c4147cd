Feature: Topic management
  The options of topics and subscriptions: which ones they can be created with, which ones can be
  changed, and which ones descriptions report. Rules about all entities are tested with queues, too.

  Rule: A topic is created once, and is what it was created as

    @MGMT-01
    Scenario: A topic that is created with the option is partitioned
      Given a partitioned topic
      Then the topic is described as partitioned

    @MGMT-03
    Scenario: A topic that is created without the option is not partitioned
      Given a regular topic
      Then the topic is described as regular

    @MGMT-03
    Scenario: A topic that leaves the option out is not partitioned
      Given a topic that leaves the option out
      Then the topic is described as regular

    @MGMT-06
    Scenario: A request of api-version 2013-10 creates a partitioned topic
      Given an empty namespace
      When a partitioned topic is created by a request of api-version 2013-10
      Then it is accepted

    @MGMT-07
    Scenario Outline: A request of a later api-version creates a partitioned topic
      Given an empty namespace
      When a partitioned topic is created by a request of api-version <version>
      Then it is accepted

      Examples:
        | version |
        | 2014-01 |
        | 2021-05 |

    @MGMT-08
    Scenario Outline: A request of an earlier api-version for a topic may be refused
      Given an empty namespace
      When a partitioned topic is created by a request of api-version <version>
      Then it is accepted or refused

      Examples:
        | version |
        | 2012-03 |
        | none    |

    @SIZE-01 @SIZE-04
    Scenario Outline: A partitioned topic is as large as all its partitions
      Given a partitioned topic of <size> GB
      Then the topic is described with <size> GB for each partition

      Examples:
        | size |
        | 1    |
        | 5    |

    @SIZE-01 @SIZE-06
    Scenario Outline: A regular topic is as large as it is created
      Given a regular topic of <size> GB
      Then the topic is described with <size> GB

      Examples:
        | size |
        | 1    |
        | 5    |

    @SIZE-02
    Scenario Outline: A topic has no other size in Standard
      Given an empty namespace
      When a <kind> topic of <size> GB is created
      Then it is refused, or the <kind> topic has a size of the tier

      Examples:
        | kind        | size |
        | partitioned | 6    |
        | regular     | 80   |

    @SIZE-03 @SIZE-04
    Scenario: A partitioned topic without a size has 1 GB for each partition
      Given a partitioned topic
      Then the topic is described with 1 GB for each partition

    @SIZE-03
    Scenario: A regular topic without a size has 1 GB
      Given a regular topic
      Then the topic is described with 1 GB

    @PREM-07 @PREM-10
    Scenario Outline: A topic is as large as it is created, and not many times as large
      Given a regular topic of <size> GB
      Then the topic is described with <size> GB

      Examples:
        | size |
        | 5    |
        | 80   |

    @PREM-08
    Scenario Outline: A topic has no other size in Premium
      Given an empty namespace
      When a regular topic of <size> GB is created
      Then it is refused, or the regular topic has a size of the tier

      Examples:
        | size |
        | 6    |
        | 160  |

    @PREM-09
    Scenario: A topic without a size has 1 GB in Premium
      Given a regular topic
      Then the topic is described with 1 GB

    @MGMT-11
    Scenario Outline: A topic's duplicate detection and its window are reported
      Given a <kind> topic with duplicate detection over 30 seconds
      Then the topic is described as detecting duplicates over 30 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-11
    Scenario Outline: A topic that detects no duplicates is described as detecting none
      Given a <kind> topic with a time to live of 60 seconds
      Then the topic is described as detecting no duplicates
      And the topic is described with a time to live of 60 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-11
    Scenario Outline: A subscription's own settings are reported
      Given a <kind> topic
      And subscription "one" with locks of 5 seconds
      And subscription "two" that requires sessions
      When receivers turn to subscription "one"
      Then it is described with locks of 5 seconds
      And it is described as requiring no sessions
      When receivers turn to subscription "two"
      Then it is described with locks of 60 seconds
      And it is described as requiring sessions

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
      When a topic named "orders" is created
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
      When a <kind> queue named "news" is created
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
      When a request to <asked> a topic that does not exist is made
      Then it is refused because it is not found

      Examples:
        | asked                     |
        | get                       |
        | update                    |
        | delete                    |
        | list the subscriptions of |

    @MGMT-10
    Scenario Outline: A subscription that does not exist cannot be used
      Given a topic
      And subscription "one"
      When a request to <asked> subscription "two" is made
      Then it is refused because it is not found

      Examples:
        | asked        |
        | receive from |
        | peek at      |
        | get          |
        | update       |
        | delete       |

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
      And another regular topic
      And another partitioned queue
      And subscription "one"
      Then the list of topics names news and events

    @MGMT-16
    Scenario: A list of topics names every partitioned topic
      Given a partitioned topic
      And another partitioned topic
      Then the list of topics names news and events

    @MGMT-16
    Scenario: A list of topics does not name what was deleted
      Given a regular topic
      And another regular topic
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
    Scenario Outline: A topic reports how many subscriptions it has
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And subscription "three"
      Then in the end the topic is described with 3 subscriptions
      When subscription "two" is deleted
      Then in the end the topic is described with 2 subscriptions

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
      Then in the end it is described with 63 messages
      When receivers turn to subscription "two"
      Then in the end it is described with 64 messages

  Rule: Some settings of topics and subscriptions are fixed, others can be changed

    @MGMT-04
    Scenario Outline: The partitioning option of a topic is not changed by an update
      Given a <kind> topic
      When the topic is updated to be <other>
      Then it is accepted or refused
      And the topic is described as <kind>

      Examples:
        | kind        | other       |
        | partitioned | regular     |
        | regular     | partitioned |

    @MGMT-14
    Scenario Outline: An update does not change whether a topic detects duplicates
      Given a <kind> topic <traits>
      When the topic is updated <change>
      Then it is accepted or refused
      And the topic is described as <described>

      Examples:
        | kind        | traits                   | change                  | described               |
        | partitioned | without sessions         | to detect duplicates    | detecting no duplicates |
        | partitioned | with duplicate detection | to detect no duplicates | detecting duplicates    |
        | regular     | without sessions         | to detect duplicates    | detecting no duplicates |
        | regular     | with duplicate detection | to detect no duplicates | detecting duplicates    |

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
      And it is described as requiring no sessions
      When receivers turn to subscription "sessions"
      And it is updated to require no sessions
      Then it is accepted or refused
      And it is described as requiring sessions

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12
    Scenario Outline: An update of a subscription's locks is reported and in force, and for it alone
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And a message without key was sent
      When receivers turn to subscription "one"
      And it is updated to have locks of 5 seconds
      Then it is accepted
      And it is described with locks of 5 seconds
      When a message is received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 1 message was received
      When receivers turn to subscription "two"
      Then it is described with locks of 60 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12 @DLQ-02
    Scenario Outline: An update of a subscription's greatest delivery count is in force, and for it alone
      Given a <kind> topic
      And subscription "one" with 5 deliveries
      And subscription "two" with 5 deliveries
      When receivers turn to subscription "one"
      And it is updated to have 2 deliveries
      And senders turn to the topic
      And a message with PartitionKey "a" is sent
      And receivers turn to subscription "one"
      And one message is received and abandoned, as often as permitted
      And 1 message among its dead letters is awaited
      Then exactly 1 message was received
      When receivers turn to subscription "two"
      And one message is received and abandoned, 3 times
      And everything is received and completed
      Then exactly 1 message was received

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
      And it is updated to have locks of 5 seconds
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
      And it is updated to have a time to live of 5 seconds
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

    @MGMT-11
    Scenario Outline: A topic that was <status> for a while is described as before
      Given a <kind> topic with a time to live of 60 seconds and with duplicate detection over 30 seconds
      When the topic is <status>
      And the topic is active again
      Then the topic is described with a time to live of 60 seconds

      Examples:
        | kind        | status               |
        | partitioned | disabled             |
        | partitioned | disabled for senders |
        | regular     | disabled             |

    @MGMT-12
    Scenario Outline: An update of a topic's time to live is in force for what comes after it
      Given a <kind> topic with a time to live of 60 seconds
      And subscription "one"
      And a message with MessageId "early" was sent
      When the topic is updated to have a time to live of 5 seconds
      Then it is accepted
      And the topic is described with a time to live of 5 seconds
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

    @FWD-04 @MGMT-12
    Scenario Outline: A subscription that forwards still does after an update of something else
      Given a <kind> destination "end"
      And a <kind> topic
      And subscription "one" that forwards to "end"
      When receivers turn to subscription "one"
      And it is updated to have locks of 20 seconds
      Then it is accepted
      When senders turn to the topic
      And 8 messages with PartitionKey "a" are sent
      And receivers turn to "end"
      And messages are awaited until there are 8
      Then exactly 8 messages were received

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
      And the queue is updated to forward to "end"
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
