"""Mutation testing of the suite: mutants by hand and by machine."""
