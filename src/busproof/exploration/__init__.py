"""Exploration: command sequences that no scenario lists, judged as they run on any adapter."""
