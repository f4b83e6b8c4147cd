"""Entities that forward their messages, or their dead letters (FWD)."""
