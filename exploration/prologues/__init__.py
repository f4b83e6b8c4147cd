"""Prologues: how sequences of an exploration may begin, one module a family."""
