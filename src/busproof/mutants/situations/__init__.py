"""Mutants that are right in simple runs, and wrong late, in outages or after other requests."""
