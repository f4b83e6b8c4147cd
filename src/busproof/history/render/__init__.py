"""Rendering of commands, outcomes and events as text."""
