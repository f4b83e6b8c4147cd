"""Mutants of management: entities' options, sizes, limits and numbers, in each tier."""
