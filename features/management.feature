Feature: Queue management
  The options of a queue: which ones it can be created with, which ones can be changed, what its
  description reports, and how an unavailable partition affects all of this.

  Rule: A queue is partitioned if it is created so

    @MGMT-01
    Scenario: A queue that is created with the option is partitioned
      Given a partitioned queue
      Then the queue is described as partitioned

    @MGMT-03
    Scenario: A queue that is created without the option is not partitioned
      Given a queue that leaves the option out
      Then the queue is described as regular

    @MGMT-03
    Scenario: A queue whose option is false is not partitioned
      Given a regular queue
      Then the queue is described as regular

    @MGMT-02
    Scenario Outline: A queue can be partitioned, whatever else it is
      Given an empty namespace
      When a partitioned queue <traits> is created
      Then it is accepted

      Examples:
        | traits                                             |
        | without sessions                                   |
        | with locks of 5 seconds                            |
        | that requires sessions                             |
        | with duplicate detection over 30 seconds           |
        | that requires sessions and with duplicate detection |

    @MGMT-24
    Scenario Outline: Basic may refuse what only the other tiers have
      Given an empty namespace
      When a partitioned queue <traits> is requested
      Then it is accepted or refused

      Examples:
        | traits                   |
        | that requires sessions   |
        | with duplicate detection |

    @MGMT-06
    Scenario: A request of api-version 2013-10 creates a partitioned queue
      Given an empty namespace
      When a partitioned queue is created by a request of api-version 2013-10
      Then it is accepted

    @MGMT-07
    Scenario Outline: A request of a later api-version creates a partitioned queue
      Given an empty namespace
      When a partitioned queue is created by a request of api-version <version>
      Then it is accepted

      Examples:
        | version |
        | 2014-01 |
        | 2021-05 |

    @MGMT-08
    Scenario Outline: A request of an earlier api-version may be refused
      Given an empty namespace
      When a partitioned queue is created by a request of api-version <version>
      Then it is accepted or refused

      Examples:
        | version |
        | 2012-03 |
        | none    |

  Rule: A name is taken once, and only what exists can be used

    @MGMT-09
    Scenario Outline: A second queue of the same name is refused
      Given a <first> queue
      And a message without key was sent
      When a <second> queue is created
      Then it is refused because it exists already

      Examples:
        | first       | second      |
        | partitioned | partitioned |
        | partitioned | regular     |
        | regular     | partitioned |

    @MGMT-09
    Scenario: A queue keeps its messages when its name is requested again
      Given a partitioned queue
      And 32 messages without key were sent
      When a partitioned queue is created
      And everything is received and completed
      Then exactly 32 messages were received

    @MGMT-10
    Scenario Outline: What does not exist cannot be used
      Given an empty namespace
      When a request to <asked> a queue that does not exist is made
      Then it is refused because it is not found

      Examples:
        | asked   |
        | send to |
        | get     |
        | update  |
        | delete  |

    @MGMT-10
    Scenario Outline: What does not exist takes neither batches nor scheduled messages
      Given an empty namespace
      When a request to <asked> a queue that does not exist is made
      Then it is refused

      Examples:
        | asked                  |
        | send a batch to        |
        | schedule a message for |

    @MGMT-10
    Scenario Outline: What does not exist holds no messages
      Given an empty namespace
      When a request to <asked> a queue that does not exist is made
      Then it is refused because it is not found

      Examples:
        | asked        |
        | receive from |
        | peek at      |

    @MGMT-10 @MGMT-15
    Scenario: The dead letters of a queue that was deleted cannot be used
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And a message was received and dead-lettered
      And the queue was deleted
      When receivers turn to its dead letters
      Then a receive is refused because it is not found

    @MGMT-10
    Scenario: What was deleted cannot be used
      Given a partitioned queue
      And the queue was deleted
      When a message without key is sent
      Then it is refused because it is not found

    @MGMT-16
    Scenario: A list names every queue once
      Given a partitioned queue
      And another regular queue
      Then the list of queues names orders and invoices

    @MGMT-16
    Scenario: A list does not name what was deleted
      Given a partitioned queue
      And another partitioned queue
      And the queue was deleted
      Then the list of queues names invoices

    @MGMT-16
    Scenario: An empty namespace has no queues
      Given an empty namespace
      Then the list of queues names none

  Rule: What is got of a queue is what it was created with

    @MGMT-11
    Scenario Outline: The settings are reported
      Given a <kind> queue with locks of 5 seconds
      Then it is described with locks of 5 seconds
      And it is described as requiring no sessions
      And it is described as detecting no duplicates

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-11
    Scenario Outline: Duplicate detection and its window are reported
      Given a <kind> queue with duplicate detection over 30 seconds
      Then it is described as detecting duplicates over 30 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-11
    Scenario Outline: Sessions are reported
      Given a <kind> queue that requires sessions
      Then it is described as requiring sessions

      Examples:
        | kind        |
        | partitioned |
        | regular     |

  Rule: Some settings are fixed at creation, others can be changed

    @MGMT-04
    Scenario Outline: The partitioning option is not changed by an update
      Given a <kind> queue
      When the queue is updated to be <other>
      Then it is accepted or refused
      And the queue is described as <kind>

      Examples:
        | kind        | other       |
        | partitioned | regular     |
        | regular     | partitioned |

    @MGMT-04
    Scenario: A queue keeps all its partitions after an update that names the other option
      Given a partitioned queue
      And 32 messages without key were sent
      When the queue is updated to be regular
      And everything is received and completed
      Then exactly 32 messages were received

    @MGMT-13
    Scenario Outline: An update does not change whether sessions are required
      Given a <kind> queue <traits>
      When the queue is updated <change>
      Then it is accepted or refused
      And it is described as <described>

      Examples:
        | kind        | traits                 | change                 | described             |
        | partitioned | without sessions       | to require sessions    | requiring no sessions |
        | partitioned | that requires sessions | to require no sessions | requiring sessions    |
        | regular     | without sessions       | to require sessions    | requiring no sessions |
        | regular     | that requires sessions | to require no sessions | requiring sessions    |

    @MGMT-14
    Scenario Outline: An update does not change whether duplicates are detected
      Given a <kind> queue <traits>
      When the queue is updated <change>
      Then it is accepted or refused
      And it is described as <described>

      Examples:
        | kind        | traits                   | change                  | described               |
        | partitioned | without sessions         | to detect duplicates    | detecting no duplicates |
        | partitioned | with duplicate detection | to detect no duplicates | detecting duplicates    |
        | regular     | without sessions         | to detect duplicates    | detecting no duplicates |
        | regular     | with duplicate detection | to detect no duplicates | detecting duplicates    |

    @MGMT-12
    Scenario Outline: An update of the lock duration is reported
      Given a <kind> queue
      When it is updated to have locks of 5 seconds
      Then it is accepted
      And it is described with locks of 5 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12
    Scenario Outline: An update of the time to live is reported
      Given a <kind> queue
      When it is updated to have a time to live of 20 seconds
      Then it is accepted
      And it is described with a time to live of 20 seconds

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12
    Scenario Outline: An update of the time to live is in force for what is sent after it
      Given a <kind> queue with a time to live of 60 seconds
      And it was updated to have a time to live of 5 seconds
      And a message without key was sent
      When 5 seconds pass
      Then a receive finds nothing

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12
    Scenario Outline: A message from before keeps the time that it was given
      Given a <kind> queue with a time to live of 60 seconds
      And a message without key was sent
      And it was updated to have a time to live of 5 seconds
      When 20 seconds pass
      Then a receive finds something

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12
    Scenario Outline: An update of the lock duration is in force for the next lock
      Given a <kind> queue
      And a message without key was sent
      And it was updated to have locks of 5 seconds
      When a message is received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 1 message was received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-12 @DLQ-02
    Scenario Outline: An update of the greatest delivery count is in force for what is sent after it
      Given a <kind> queue with <before> deliveries
      When it is updated to have <after> deliveries
      And a message with PartitionKey "a" is sent
      And one message is received and abandoned, as often as permitted
      Then a receive finds nothing
      When 1 message among its dead letters is awaited
      Then exactly 1 message was received

      Examples:
        | kind        | before | after |
        | partitioned | 5      | 2     |
        | partitioned | 2      | 5     |
        | regular     | 5      | 2     |
        | regular     | 2      | 5     |

    @MGMT-17
    Scenario: An update is in force in every partition
      Given a partitioned queue
      And 64 messages without key were sent
      And it was updated to have locks of 5 seconds
      When all messages are received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 64 messages were received by then

  Rule: A deleted queue takes everything with it

    @MGMT-17
    Scenario: No partition keeps a message of a deleted queue
      Given a partitioned queue
      And 64 messages without key were sent
      And the queue was deleted
      When it is created again as a partitioned queue
      Then a receive finds nothing

    @MGMT-15
    Scenario: A regular queue's messages go with it
      Given a regular queue
      And a message without key was sent
      And the queue was deleted
      When it is created again as a regular queue
      Then a receive finds nothing

    @MGMT-15
    Scenario Outline: Whatever a message was in a deleted queue, it is not in the one that is created again
      Given a <kind> queue
      And 3 messages with PartitionKey "a" were sent
      And a message with PartitionKey "a" was scheduled in 20 seconds
      When <done>
      And the queue is deleted
      And it is created again as a <kind> queue
      Then in the end it is described with 0 messages
      When messages are peeked
      Then exactly 0 messages are shown
      When 120 seconds pass
      Then a receive finds nothing
      And a receive among its dead letters finds nothing

      Examples:
        | kind        | done                                                  |
        | partitioned | messages are peeked                                   |
        | partitioned | a message is received and kept                        |
        | partitioned | a message is received and deferred                    |
        | partitioned | a message is received and dead-lettered because of "x" |
        | regular     | a message is received and kept                        |
        | regular     | a message is received and deferred                    |
        | regular     | a message is received and dead-lettered because of "x" |

    @MGMT-15 @DEFER-03
    Scenario Outline: A number of a deleted queue names nothing in the one that is created again
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When a message is received and deferred
      And the queue is deleted
      And it is created again as a <kind> queue
      And it is tried by its number
      Then it is refused

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-15 @SESS-16
    Scenario Outline: A session of a deleted queue has no holder and no state in the one that is created again
      Given a <kind> queue that requires sessions
      And a message with SessionId "s" was sent
      When session "s" is accepted
      And session "s" is given the state "half"
      And the queue is deleted
      And it is created again as a <kind> queue that requires sessions
      And session "s" is requested over another connection
      Then it is accepted
      And the state of session "s" over another connection is none
      When everything of session "s" is received over another connection and completed
      Then exactly 0 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-15
    Scenario: A lock of a deleted queue settles nothing
      Given a partitioned queue
      And a message without key was sent
      When a message is received and kept
      And the queue is deleted
      And it is created again as a partitioned queue
      And the message kept is completed
      Then it is refused

    @MGMT-15
    Scenario: A queue that is created again remembers no MessageId
      Given a partitioned queue with duplicate detection
      And a message with MessageId "x" was sent
      And the queue was deleted
      When it is created again as a partitioned queue with duplicate detection
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

    @MGMT-05
    Scenario Outline: Created again, a queue may have the other option
      Given a <before> queue
      And the queue was deleted
      When it is created again as a <after> queue
      Then the queue is described as <after>

      Examples:
        | before      | after       |
        | partitioned | regular     |
        | regular     | partitioned |

  Rule: A partition that cannot be reached may make management fail

    @MGMT-18
    Scenario: In an outage a deletion may fail
      Given a partitioned queue
      And one of its partitions is down
      When the queue is deleted
      Then it is accepted or refused

    @MGMT-18
    Scenario: In an outage an update may fail
      Given a partitioned queue
      And one of its partitions is down
      When it is updated to have locks of 5 seconds
      Then it is accepted or refused

    @MGMT-18
    Scenario: In an outage a creation may fail
      Given a partition of a queue to come is down
      When a partitioned queue is created
      Then it is accepted or refused

    @MGMT-19
    Scenario: A deletion that failed can be repeated after the outage
      Given a partitioned queue
      And 64 messages without key were sent
      And one of its partitions is down
      When the queue is deleted
      And the partition is up again, if it is still there
      And the queue is deleted
      Then it is accepted, or refused because it is not found

    @MGMT-19
    Scenario: A queue whose deletion was repeated is gone from every partition
      Given a partitioned queue
      And 64 messages without key were sent
      And one of its partitions is down
      When the queue is deleted
      And the partition is up again, if it is still there
      And the queue is deleted
      And it is created again as a partitioned queue
      Then a receive finds nothing

    @MGMT-19
    Scenario: An update that failed can be repeated after the outage, and ends whole
      Given a partitioned queue
      And 64 messages without key were sent
      And one of its partitions is down
      When it is updated to have locks of 5 seconds
      And the partition is up again, if it is still there
      And it is updated to have locks of 5 seconds
      And all messages are received and kept
      And 5 seconds pass
      And everything is received and completed
      Then exactly 64 messages were received by then

    @MGMT-19
    Scenario: A creation that failed can be repeated after the outage
      Given a partition of a queue to come is down
      When a partitioned queue is created
      And the partition is up again, if it is still there
      And a partitioned queue is created
      Then it is accepted, or refused because it exists already

  Rule: A queue's description is of all its partitions together

    @MGMT-20
    Scenario: Messages are counted in all partitions
      Given a partitioned queue
      And 64 messages without key were sent
      Then in the end it is described with 64 messages

    @MGMT-20
    Scenario: Messages that are gone are not counted any more
      Given a partitioned queue
      And 64 messages without key were sent
      When a message is received and deleted
      Then in the end it is described with 63 messages

    @MGMT-29
    Scenario: Messages that are scheduled are counted, where they are read to be
      Given a partitioned queue
      And 3 messages without key were scheduled in 600 seconds
      Then in the end it is described with 3 messages

    @MGMT-30
    Scenario: Messages that are scheduled are not counted, where they are read not to be
      Given a partitioned queue
      And 3 messages without key were scheduled in 600 seconds
      And a message without key was sent
      Then in the end it is described with 1 message

    @MGMT-20
    Scenario: After an outage messages are counted in all partitions again
      Given a partitioned queue
      And 64 messages without key were sent
      And one of its partitions is down
      When the partition is up again, if it is still there
      Then in the end it is described with 64 messages

    @MGMT-23
    Scenario: A partition that is down may not be counted
      Given a partitioned queue
      And 64 messages without key were sent
      And one of its partitions is down
      Then at most 64 messages are counted, or it is refused

    @MGMT-21
    Scenario: With a partition down, availability is limited
      Given a partitioned queue
      And one of its partitions is down
      Then in the end it is described as limited

    @MGMT-22
    Scenario: With every partition up, availability is not limited
      Given a partitioned queue
      Then in the end it is described as available

    @MGMT-22
    Scenario: After an outage, availability is not limited any more
      Given a partitioned queue
      And one of its partitions is down
      When the partition is up again, if it is still there
      Then in the end it is described as available

  Rule: A queue can be disabled, and keeps what it has

    @MGMT-26
    Scenario Outline: A queue that is disabled takes nothing
      Given a <kind> queue
      When the queue is <status>
      And a message with PartitionKey "a" is sent
      Then it is refused because the entity is disabled
      When the queue is active again
      And a receive is tried
      Then exactly 0 messages were received

      Examples:
        | kind        | status               |
        | partitioned | disabled             |
        | partitioned | disabled for senders |
        | regular     | disabled             |
        | regular     | disabled for senders |

    @MGMT-26
    Scenario: Nothing can be scheduled on a queue that is disabled
      Given a partitioned queue
      When the queue is disabled
      And a message with PartitionKey "a" is scheduled in 5 seconds
      Then it is refused because the entity is disabled

    @MGMT-26
    Scenario: What was scheduled before may be cancelled on a queue that is disabled
      Given a partitioned queue
      And a message without key was scheduled in 30 seconds
      When the queue is disabled
      And the scheduled message is cancelled
      Then it is accepted or refused

    @MGMT-27 @BATCH-12
    Scenario Outline: A queue that is disabled gives no batch
      Given a <kind> queue
      And 4 messages with PartitionKey "a" were sent
      When the queue is disabled
      Then a receive of several is refused because the entity is disabled

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-27
    Scenario Outline: A queue that is disabled gives nothing, and keeps what it has
      Given a <kind> queue
      And 4 messages with PartitionKey "a" were sent
      When the queue is <status>
      Then a receive is refused because the entity is disabled
      When the queue is active again
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        | status                 |
        | partitioned | disabled               |
        | partitioned | disabled for receivers |
        | regular     | disabled               |
        | regular     | disabled for receivers |

    @MGMT-27
    Scenario Outline: A queue that is disabled keeps what is deferred
      Given a <kind> queue
      And a message with PartitionKey "a" was sent
      When a message is received and deferred
      And the queue is <status>
      And the queue is active again
      And it is received by its number and completed
      Then exactly 1 message was received

      Examples:
        | kind        | status                 |
        | partitioned | disabled               |
        | regular     | disabled for receivers |

    @MGMT-28
    Scenario Outline: Who receives is not kept away by what keeps senders away
      Given a <kind> queue
      And 4 messages with PartitionKey "a" were sent
      When the queue is disabled for senders
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |

    @MGMT-28
    Scenario Outline: Who sends is not kept away by what keeps receivers away
      Given a <kind> queue
      When the queue is disabled for receivers
      And 4 messages with PartitionKey "a" are sent
      And the queue is active again
      And everything is received and completed
      Then exactly 4 messages were received

      Examples:
        | kind        |
        | partitioned |
        | regular     |
