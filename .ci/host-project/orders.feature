Feature: Orders of the host project

  @smoke
  Scenario: The host's option reaches its test
    Given the adapter "x"
    Then it is the one that was asked for

  @smoke @KEY-01
  Scenario: The host's fixture reaches its test
    Then the bus is the host's

  @KEY-01
  Scenario: A tag that looks like a rule of busproof
    Then the bus is the host's
