"""Prologues of exploration sequences, in one module per family."""
