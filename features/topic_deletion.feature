Feature: Deletion and disabling of topics and subscriptions
  What a deletion removes and what it leaves, how an unavailable partition affects management, and
  which clients an entity's status keeps away.

  Rule: A deleted topic takes everything with it

    @TOPIC-22
    Scenario Outline: No subscription of a deleted topic can be used
      Given a <kind> topic
      And subscription "one"
      And 4 messages with PartitionKey "a" were sent
      And the topic was deleted
      When a request to <asked> subscription "one" is made
      Then it is refused because it is not found

      Examples:
        | kind        | asked        |
        | partitioned | receive from |
        | partitioned | peek at      |
        | partitioned | get          |
        | partitioned | update       |
        | partitioned | delete       |
        | regular     | receive from |
        | regular     | get          |

    @TOPIC-22
    Scenario Outline: A topic that is created again has no subscriptions
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And the topic was deleted
      When the topic is created again as a <kind> topic
      Then the list of subscriptions names none
      When a request to receive from subscription "one" is made
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
      When receivers turn to subscription "one"
      And a message is received and kept
      And the topic is deleted
      And the topic is created again as a partitioned topic
      And subscription "one" is created again
      And the message kept is completed
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
      Then the topic is described as <after>

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
      When a request to receive from subscription "two" is made
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

    @MGMT-15 @FILTER-01
    Scenario Outline: A subscription that is created again begins with the rule that takes everything
      Given a <kind> topic
      And subscription "one" that takes messages with Label "x"
      When subscription "one" is deleted
      And subscription "one" is created again
      And a message with Label "y" is sent
      And receivers turn to subscription "one"
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-15 @DLQ-08
    Scenario Outline: A subscription that is created again has no dead letters
      Given a <kind> topic
      And subscription "one"
      And 2 messages with PartitionKey "a" were sent
      When receivers turn to subscription "one"
      And each message is received and dead-lettered
      And subscription "one" is deleted
      And subscription "one" is created again
      Then a receive among its dead letters finds nothing
      And in the end it is described with 0 messages

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
      And it is updated to have locks of 5 seconds
      Then it is accepted or refused

    @MGMT-18
    Scenario: In an outage an update of a topic may fail
      Given a partitioned topic
      And one of its partitions is down
      When the topic is updated to have a time to live of 5 seconds
      Then it is accepted or refused

    @MGMT-19
    Scenario Outline: A deletion of a topic that failed can be repeated after the outage
      Given a partitioned topic
      And subscription "one"
      And 64 messages without key were sent
      And one of its partitions is down
      When <what> is deleted
      And the partition is up again, if it is still there
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
      And the partition is up again, if it is still there
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
      And it is updated to have locks of 5 seconds
      And the partition is up again, if it is still there
      And it is updated to have locks of 5 seconds
      And all messages are received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 64 messages were received by then

    @MGMT-21
    Scenario: With a partition down, a topic and its subscriptions are reported as limited
      Given a partitioned topic
      And subscription "one"
      And one of its partitions is down
      Then in the end the topic is described as limited
      When receivers turn to subscription "one"
      Then in the end it is described as limited

    @MGMT-22
    Scenario: After an outage a topic and its subscriptions are not limited any more
      Given a partitioned topic
      And subscription "one"
      Then in the end the topic is described as available
      When every partition is down for a while
      Then in the end the topic is described as available
      When receivers turn to subscription "one"
      Then in the end it is described as available

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
      Then a receive is refused because the entity is disabled
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

    @TOPIC-25 @SCHED-02
    Scenario Outline: What becomes due while a subscription is closed to receivers comes to it
      Given a <kind> topic
      And subscription "one"
      And subscription "two"
      And 2 messages with PartitionKey "a" were scheduled in 20 seconds
      When subscription "<closed>" is disabled for receivers
      And 20 seconds pass
      And subscription "<closed>" is active again
      And receivers turn to subscription "<closed>"
      And 2 messages are awaited
      Then exactly 2 messages were received

      Examples:
        | kind        | closed |
        | partitioned | one    |
        | regular     | two    |

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
    Scenario: A topic may refuse to be closed to receivers, since it has none
      Given a topic
      When the topic is requested to be disabled for receivers
      Then it is accepted or refused

    @MGMT-26
    Scenario: A subscription may refuse to be closed to senders, since it has none
      Given a topic
      And subscription "one"
      When subscription "one" is requested to be disabled for senders
      Then it is accepted or refused
