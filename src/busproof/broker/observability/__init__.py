"""Observability for operators: log, metrics, counts and decisions."""
