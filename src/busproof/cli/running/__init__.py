"""Parts of `busproof run`: consent, the child process, progress, verdicts and repetition."""
