"""Screening: find what looks like a violation of a few cheap rules, for the judge to confirm."""
