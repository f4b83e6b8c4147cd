"""Strategies: what an exploration may ask, as rows of a table, one module a family."""
