"""Mutants of topics, and of the rules and filters of their subscriptions."""
