"""Cells of a covering array: an operation in one or two circumstances.

Random sequences seldom bring three things together, and scenarios bring those together that their
authors thought of. Here every operation meets every circumstance, and every pair of them.
"""
