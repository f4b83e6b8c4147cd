"""Mutants of topics, their subscriptions, and the rules and filters of those."""
