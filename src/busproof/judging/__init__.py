"""Judging: verdicts on rules from recorded events, and mutation testing of the suite."""
