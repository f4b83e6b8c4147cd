"""Diagnosis: the rules that a violation breaks."""
