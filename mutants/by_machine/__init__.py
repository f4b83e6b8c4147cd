"""Mutants made by machine: where a rule is changed, how, and in which context."""
