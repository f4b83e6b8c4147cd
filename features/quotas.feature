Feature: Entity quotas
  How many partitioned queues and topics a namespace can have, and how many queues and topics of any
  kind. A request for one more is refused, and leaves the namespace as it was.

  Rule: There are 100 partitioned queues, or topics, at most

    @QUOTA-01
    Scenario: A namespace takes 100 partitioned queues
      Given an empty namespace
      When 100 partitioned queues are created
      Then all of them were accepted

    @QUOTA-02
    Scenario: The 101st partitioned queue is refused
      Given 100 partitioned queues were created
      When a partitioned queue is requested
      Then it is refused because the quota is exceeded

    @QUOTA-02
    Scenario Outline: The 101st partitioned queue is refused, whatever else it is
      Given 100 partitioned queues were created
      When a partitioned queue <traits> is created
      Then it is refused because the quota is exceeded

      Examples:
        | traits                   |
        | that requires sessions   |
        | with duplicate detection |

    @QUOTA-02 @MGMT-10
    Scenario: What was refused is not there
      Given 100 partitioned queues were created
      When a partitioned queue is requested
      And a message without key is sent to "orders"
      Then it is refused because it is not found

    @QUOTA-03
    Scenario: A namespace takes 100 partitioned topics
      Given an empty namespace
      When 100 partitioned topics are created
      Then all of them were accepted

    @QUOTA-03
    Scenario: The 101st partitioned topic is refused
      Given 100 partitioned topics were created
      When a partitioned topic is requested
      Then it is refused because the quota is exceeded

    @QUOTA-04
    Scenario Outline: Queues and topics may share the 100
      Given 50 partitioned queues were created
      And 50 partitioned topics were created
      When a partitioned <kind> is requested
      Then it is accepted, or refused because the quota is exceeded

      Examples:
        | kind  |
        | queue |
        | topic |

    @QUOTA-03
    Scenario Outline: Fewer than 100 of both are not too many
      Given 50 partitioned queues were created
      And 49 partitioned topics were created
      When a partitioned <kind> is requested
      Then it is accepted

      Examples:
        | kind  |
        | queue |
        | topic |

    @QUOTA-05
    Scenario: A deleted queue makes room for another one
      Given 100 partitioned queues were created
      And "partitioned-queue-0" was deleted
      When a partitioned queue is requested
      Then it is accepted

    @QUOTA-05 @QUOTA-02
    Scenario: A deleted queue makes room for one and no more
      Given 100 partitioned queues were created
      And "partitioned-queue-0" was deleted
      And a partitioned queue
      When another partitioned queue is requested
      Then it is refused because the quota is exceeded

    @QUOTA-05 @QUOTA-02
    Scenario Outline: A deleted queue makes room for one and no more, whatever else it was
      Given 99 partitioned queues were created
      And a partitioned queue <traits>
      When another partitioned queue is requested
      Then it is refused because the quota is exceeded
      When the queue is deleted
      And another partitioned queue is requested
      Then it is accepted
      When a partitioned queue is requested
      Then it is refused because the quota is exceeded

      Examples:
        | traits                                   |
        | that requires sessions                   |
        | with duplicate detection over 30 seconds |

    @QUOTA-05
    Scenario: What was refused takes no room
      Given 100 partitioned queues were created
      When a partitioned queue is requested
      And "partitioned-queue-0" is deleted
      And another partitioned queue is requested
      Then it is accepted

    @QUOTA-05
    Scenario: A deleted topic makes room for another one
      Given 99 partitioned topics were created
      And a partitioned topic
      When the topic is deleted
      And a partitioned topic is requested
      Then it is accepted

    @QUOTA-01
    Scenario: A queue that exists already is not counted again
      Given 98 partitioned queues were created
      And a partitioned queue
      When a partitioned queue is requested
      Then it is refused because it exists already
      When another partitioned queue is requested
      Then it is accepted

    @QUOTA-02 @QUOTA-06
    Scenario: A queue that is not partitioned makes no room when it is deleted
      Given 100 partitioned queues were created
      And a regular queue
      When the queue is deleted
      And another partitioned queue is requested
      Then it is refused because the quota is exceeded

    @QUOTA-06
    Scenario: With 100 partitioned queues others can be created
      Given 100 partitioned queues were created
      When a regular queue is created
      Then it is accepted

    @QUOTA-06
    Scenario: With 100 partitioned topics others can be created
      Given 100 partitioned topics were created
      When a regular topic is requested
      Then it is accepted

    @QUOTA-06
    Scenario: With more than 100 others a partitioned queue can be created
      Given 101 regular queues were created
      When a partitioned queue is requested
      Then it is accepted

    @QUOTA-06
    Scenario: With 100 partitioned topics each can have subscriptions
      Given 100 partitioned topics were created
      When subscription "one" of topic "partitioned-topic-0" is created
      Then it is accepted

  Rule: There are 10,000 queues and topics at most

    @QUOTA-07 @QUOTA-08 @QUOTA-09 @QUOTA-10 @any-reading
    Scenario: A namespace takes 10,000 queues, and no more
      Given an empty namespace
      When 10000 regular queues are created
      Then all of them were accepted, or the first 1000 where so few may be all
      When a regular queue is created
      Then it is refused
      When one of them is replaced by a partitioned queue, where that is possible
      Then that is accepted, where each queue counts once
      When two of them are replaced by a topic with a subscription, where that is possible
      And another regular queue is requested
      Then it is accepted or refused

    @QUOTA-11
    Scenario: In Premium another number may decide
      Given 1000 regular queues were created
      When a regular queue is created
      Then it is accepted or refused

    @QUOTA-14
    Scenario: Premium takes 1,000 queues for each messaging unit
      Given an empty namespace
      When 1000 queues for each messaging unit are created
      Then all of them were accepted

    @QUOTA-15
    Scenario: Premium takes no more than 1,000 queues for each messaging unit, where they limit it
      Given an empty namespace
      When 1000 queues for each messaging unit are created
      Then all of them were accepted
      When another queue is requested
      Then it is refused

    @QUOTA-12
    Scenario: Premium takes 10,000 queues, and no more, where the number holds there
      Given an empty namespace
      When 10000 regular queues are created
      Then all of them were accepted
      When a regular queue is created
      Then it is refused

    @QUOTA-13
    Scenario: Premium takes more than 10,000 queues where no number holds there
      Given an empty namespace
      When 10001 regular queues are created
      Then all of them were accepted
