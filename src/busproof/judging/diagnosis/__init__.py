"""Diagnosis of a history that no execution of the model explains: event, rules, allowed answers."""
