"""Judging overlapping operations: decomposition, search for an order, heuristics."""
