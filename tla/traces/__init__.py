"""Recorded histories that TLC judges."""
