"""Strategies: the commands that an exploration may generate, as tables with a module per family."""
