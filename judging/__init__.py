"""Judging: what recorded events show of each rule, and whether the tests would notice a fault."""
