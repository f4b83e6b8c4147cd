"""Mutation testing of the suite, with handwritten and generated mutants."""
