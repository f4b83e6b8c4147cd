"""Mutants of entities: their options, sizes, limits and numbers, in each tier."""
