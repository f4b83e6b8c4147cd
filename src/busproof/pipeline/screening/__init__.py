"""Screening: a search for apparent violations of a few cheap rules, for the judge to confirm."""
