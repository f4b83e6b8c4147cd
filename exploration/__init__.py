"""Exploration: sequences of commands that no scenario lists, on any adapter, judged as they run."""
