"""Recorded runs: the codec, history files, their schemas, and the process protocol."""
