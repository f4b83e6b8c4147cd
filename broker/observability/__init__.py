"""Observability of a broker for operators: log, metrics, counts and decisions."""
