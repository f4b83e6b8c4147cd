"""Runs of the suite: consent, the child process, progress, verdicts and repetition."""
