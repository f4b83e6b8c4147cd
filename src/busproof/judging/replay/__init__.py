"""Judging by replay: whether an execution of the reference model explains a history."""
