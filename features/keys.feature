Feature: Partition keys
  A partitioned queue has sixteen partitions, each with a broker and a messaging store of its own.
  The properties of a message decide whether the service may choose the partition, or the message is
  pinned to one. "Each its own" stands for a value that no other message of the scenario has.

  Rule: A message is in exactly one partition

    @KEY-01
    Scenario: A message is received once, from the partition that took it
      Given a partitioned queue
      When a message without key is sent
      And everything is received and completed
      Then exactly 1 message was received
      And a receive finds nothing

    @KEY-01
    Scenario: A message with a key is received once, from the partition that took it
      Given a partitioned queue
      When a message with PartitionKey "a" is sent
      And everything is received and completed
      Then exactly 1 message was received
      And a receive finds nothing

  Rule: Messages with the same key are in the same partition

    @KEY-02
    Scenario: Sixty messages with one key
      Given a partitioned queue
      When 60 messages with PartitionKey "a" are sent
      Then all that were sent are in one partition

    @KEY-02
    Scenario: A key selects the same partition again after the queue was emptied
      Given a partitioned queue
      And 5 messages with PartitionKey "a" were sent
      And everything was received and completed
      When 5 messages with PartitionKey "a" are sent
      Then all that were sent are in one partition

    @KEY-02
    Scenario: Exactly one partition's outage stops a key
      Given a partitioned queue
      When a message with PartitionKey "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused
      When a message with PartitionKey "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused, the same one as before

  Rule: Which property is the key, all others differing

    @KEY-04
    Scenario: A SessionId is the key, though the queue does not require sessions
      Given a partitioned queue
      When 24 messages with SessionId "a" and MessageId each its own are sent
      Then all that were sent are in one partition

    @KEY-04
    Scenario: A SessionId pins, though the queue does not require sessions
      Given a partitioned queue
      When a message with SessionId "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused

    @KEY-05
    Scenario: A whole session is in one partition
      Given a partitioned queue that requires sessions
      When 24 messages with SessionId "a" and MessageId each its own are sent
      Then all that were sent are in one partition

    @KEY-05
    Scenario: A session is stopped by the outage of exactly one partition
      Given a partitioned queue that requires sessions
      When a message with SessionId "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused

    @KEY-07
    Scenario: A PartitionKey is the key where there is no SessionId
      Given a partitioned queue
      When 24 messages with PartitionKey "a" and MessageId each its own are sent
      Then all that were sent are in one partition

    @KEY-07
    Scenario: A PartitionKey pins where there is no SessionId
      Given a partitioned queue
      When a message with PartitionKey "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused

    @KEY-09
    Scenario: A PartitionKey may stand beside an identical SessionId
      Given a partitioned queue
      When a message with SessionId "a" and PartitionKey "a" is sent
      Then it is accepted

    @KEY-09
    Scenario: Identical properties on a queue that requires sessions
      Given a partitioned queue that requires sessions
      When a message with SessionId "a" and PartitionKey "a" is sent
      Then it is accepted

  Rule: A PartitionKey that differs from the SessionId is an invalid operation

    @KEY-08
    Scenario Outline: A PartitionKey must not differ from the SessionId
      Given a partitioned queue
      When a message with SessionId "<session>" and PartitionKey "<partition>" is sent
      Then it is refused as an invalid operation
      And a receive finds nothing

      Examples:
        | session | partition |
        | a       | b         |
        | a       | A         |
        | a       | aa        |
        | Ä       | ä         |
        | order 1 | order 2   |
        | order-2026-11-21-morning | order-2026-11-21-evening |

    @KEY-08
    Scenario Outline: A PartitionKey must not differ in a <request>, be it at its end only
      Given a partitioned queue
      When <asked>
      Then it is refused as an invalid operation
      And a receive finds nothing

      Examples:
        | request      | asked                                                                                   |
        | long key     | a message with SessionId of 128 characters and PartitionKey of 127 characters is sent   |
        | batch        | 2 messages with SessionId "a" and PartitionKey "b" are sent at once                     |
        | batch of one | 1 messages with SessionId "a" and PartitionKey "b" are sent at once                     |

    @KEY-08
    Scenario: A PartitionKey must not differ on a queue that requires sessions either
      Given a partitioned queue that requires sessions
      When a message with SessionId "a" and PartitionKey "b" is sent
      Then it is refused as an invalid operation

  Rule: With duplicate detection, the MessageId is the key of a message that has no other

    @KEY-10
    Scenario: A MessageId pins where duplicate detection is on
      Given a partitioned queue with duplicate detection
      When a message with MessageId "x" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused

    @KEY-10
    Scenario: A MessageId selects the same partition again once its window has passed
      Given a partitioned queue with duplicate detection over 20 seconds
      When 6 messages with MessageId "x" are sent, 20 seconds apart
      Then all that were sent are in one partition

    @KEY-11
    Scenario: Copies of a message are dropped
      Given a partitioned queue with duplicate detection
      When 3 messages with MessageId "x" are sent
      And everything is received and completed
      Then exactly 1 message was received

    @KEY-11
    Scenario: Copies are dropped with other messages in between
      Given a partitioned queue with duplicate detection
      When a message with MessageId "x" is sent
      And 20 messages with MessageId each its own are sent
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 21 messages were received

    @KEY-11
    Scenario: A copy of a message that was completed is dropped too
      Given a partitioned queue with duplicate detection
      And a message with MessageId "x" was sent
      And everything was received and completed
      When a message with MessageId "x" is sent
      Then a receive finds nothing

    @KEY-11
    Scenario: A copy is dropped until the window has passed, not after
      Given a partitioned queue with duplicate detection over 20 seconds
      And a message with MessageId "x" was sent
      When only 15 of 20 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 1 message was received

    @KEY-11
    Scenario: A message that comes after the window is no copy
      Given a partitioned queue with duplicate detection over 20 seconds
      And a message with MessageId "x" was sent
      When 20 seconds pass
      And a message with MessageId "x" is sent
      And everything is received and completed
      Then exactly 2 messages were received

    @KEY-24
    Scenario Outline: With duplicate detection, another key comes before the MessageId
      Given a partitioned queue with duplicate detection
      When 24 messages with <property> "a" and MessageId each its own are sent
      Then all that were sent are in one partition

      Examples:
        | property     |
        | SessionId    |
        | PartitionKey |

    @KEY-24
    Scenario: With duplicate detection, a PartitionKey pins whatever the MessageId
      Given a partitioned queue with duplicate detection
      When a message with PartitionKey "a" and MessageId each its own is sent while each partition in turn is down
      Then exactly 1 of the requests is refused

  Rule: Without duplicate detection, a MessageId is no key

    @KEY-12
    Scenario: Messages with one MessageId are spread like all others
      Given a partitioned queue
      When 400 messages with MessageId "x" are sent
      Then every partition took some of them

    @KEY-12
    Scenario: A MessageId does not pin
      Given a partitioned queue
      When a message with MessageId "x" is sent while each partition in turn is down
      Then exactly 0 of the requests are refused

    @KEY-12
    Scenario: Messages with one MessageId are all kept
      Given a partitioned queue
      When 3 messages with MessageId "x" are sent
      And everything is received and completed
      Then exactly 3 messages were received

  Rule: A client library gives a message the MessageId that its sender left out

    @KEY-13
    Scenario: A message sent without MessageId arrives with one
      Given a partitioned queue
      When a message without key is sent
      And everything is received and completed
      Then each of them has MessageId of any value

  Rule: Without a key, the service chooses among all partitions

    @KEY-14
    Scenario: Messages without key are spread over all partitions
      Given a partitioned queue
      When 400 messages without key are sent
      Then every partition took some of them

    @KEY-14
    Scenario Outline: Messages without key are spread over all partitions after an outage as before
      Given a partitioned queue
      When <down> partitions go down
      And 20 messages without key are sent
      And every partition is up again
      And 400 messages without key are sent
      Then every partition took some of them

      Examples:
        | down |
        | 1    |
        | 8    |

    @KEY-15
    Scenario Outline: Messages without key go round an outage
      Given a partitioned queue
      And <down> partitions are down
      When 48 messages without key are sent
      Then all that were sent are in partitions that are up

      Examples:
        | down |
        | 1    |
        | 8    |
        | 15   |

    @KEY-15
    Scenario: Whichever partition is down, a message without key is accepted
      Given a partitioned queue
      When a message without key is sent while each partition in turn is down
      Then exactly 0 of the requests are refused

    @KEY-16
    Scenario: Messages without key may come in any order
      Given a partitioned queue
      When 20 messages without key are sent
      And everything is received and completed
      Then exactly 20 messages were received

    @KEY-18
    Scenario: In an outage, a short timeout may be too short to go round it
      Given a partitioned queue
      And 8 partitions are down
      When a message without key is sent with a timeout of 15 seconds
      Then it is accepted or refused

    @KEY-25
    Scenario: Without an outage, a short timeout changes nothing
      Given a partitioned queue
      When a message without key is sent with a timeout of 1 second
      Then it is accepted

  Rule: A key pins

    @KEY-03
    Scenario: A key whose partition is down is refused
      Given a partitioned queue
      When a message with PartitionKey "a" is sent while each partition in turn is down
      Then exactly 1 of the requests is refused

    @KEY-03
    Scenario Outline: A refused message leaves nothing behind
      Given a partitioned queue
      And every partition is down
      When a message with <property> "a" is sent
      Then it is refused
      When every partition is up again
      Then a receive finds nothing

      Examples:
        | property     |
        | SessionId    |
        | PartitionKey |

    @KEY-20
    Scenario: A message with a key is not sent elsewhere while its partition is down
      Given a partitioned queue
      And a message with PartitionKey "a" was sent
      And the partition that took it is down
      When a message with PartitionKey "a" is sent
      Then it is refused

    @KEY-20
    Scenario: A key's partition is still the same after an outage
      Given a partitioned queue
      And 3 messages with PartitionKey "a" were sent
      And the partition that took it is down
      And a message with PartitionKey "a" was refused
      When the partition is up again
      And 3 messages with PartitionKey "a" are sent
      Then all that were sent are in one partition

  Rule: A key gives order

    @KEY-06
    Scenario: The messages of a session are received in the order in which they were sent
      Given a partitioned queue that requires sessions
      And 12 messages with SessionId "a" were sent
      When session "a" is accepted
      And everything of session "a" is received and completed
      Then the messages came in the order in which they were sent

    @KEY-06
    Scenario: A session keeps its order when a message is abandoned
      Given a partitioned queue that requires sessions
      And 6 messages with SessionId "a" were sent
      When session "a" is accepted
      And one message of session "a" is received and abandoned
      And everything of session "a" is received and completed
      Then the messages came in the order in which they were sent

    @KEY-06
    Scenario: A session keeps its order among other sessions
      Given a partitioned queue that requires sessions
      And messages with SessionId "a", "b" and "c" were sent in turn, 8 of each
      When session "b" is accepted
      And everything of session "b" is received and completed
      Then exactly 8 messages were received
      And the messages came in the order in which they were sent

    @KEY-17
    Scenario: Messages with one key are received in the order in which they were sent
      Given a partitioned queue
      And 12 messages with PartitionKey "a" were sent
      When everything is received and completed
      Then the messages came in the order in which they were sent

    @KEY-17
    Scenario: A key keeps its order through an outage
      Given a partitioned queue
      And 6 messages with PartitionKey "a" were sent
      And every partition is down
      When every partition is up again
      And 6 messages with PartitionKey "a" are sent
      And everything is received and completed
      Then the messages came in the order in which they were sent

    @KEY-17
    Scenario: Each of several keys keeps its own order
      Given a partitioned queue
      And messages with PartitionKey "a", "b" and "c" were sent in turn, 8 of each
      When everything is received and completed
      Then exactly 24 messages were received
      And the messages came in the order in which they were sent

  Rule: A regular entity may be read to give the oldest message first

    @KEY-26
    Scenario: A regular queue gives its messages in the order of their sending
      Given a regular queue
      And 30 messages without key were sent
      When everything is received and completed
      Then exactly 30 messages were received
      And the messages came in the order in which they were sent

  Rule: An empty text is a value or none, and no reason to lose a message

    @LIFE-09
    Scenario Outline: A message with an empty property arrives once, if it is accepted
      Given a <kind> queue <traits>
      When a message with <property> "" is sent
      And everything is received and completed
      Then exactly 1 messages were received, or 0 if it was refused

      Examples:
        | kind        | traits                   | property     |
        | partitioned | without sessions         | MessageId    |
        | partitioned | without sessions         | SessionId    |
        | partitioned | without sessions         | PartitionKey |
        | partitioned | with duplicate detection | MessageId    |
        | partitioned | with duplicate detection | SessionId    |
        | partitioned | with duplicate detection | PartitionKey |
        | regular     | without sessions         | MessageId    |
        | regular     | without sessions         | SessionId    |
        | regular     | with duplicate detection | MessageId    |

    @LIFE-09 @KEY-08
    Scenario Outline: An empty key beside another one is refused, or the message arrives
      Given a partitioned queue
      When a message with SessionId "<session>" and PartitionKey "<key>" is sent
      And everything is received and completed
      Then exactly 1 messages were received, or 0 if it was refused

      Examples:
        | session | key |
        | a       |     |
        |         | a   |
        |         |     |

    @LIFE-09 @KEY-11
    Scenario Outline: An empty MessageId makes no copies of other messages
      Given a <kind> queue with duplicate detection
      And a message with MessageId "x" was sent
      When a message with MessageId "" is sent
      And a message with MessageId "y" is sent
      And everything is received and completed
      Then one of them has MessageId "x"
      And one of them has MessageId "y"

      Examples:
        | kind        |
        | partitioned |
        | regular     |
