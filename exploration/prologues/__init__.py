"""Prologues of exploration sequences, one module for each family."""
