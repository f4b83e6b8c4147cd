"""Strategies: tables of the commands that an exploration may generate, one module per family."""
