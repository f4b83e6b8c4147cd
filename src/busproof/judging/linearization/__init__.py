"""Judging of overlapping requests: decomposition, search for an order, heuristics."""
