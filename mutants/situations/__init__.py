"""Mutants that are right for one message, and wrong late, beside others or after something else."""
