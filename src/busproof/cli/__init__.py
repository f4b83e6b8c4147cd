"""The command line: one module a command, and what several commands share."""
