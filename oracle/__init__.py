"""The oracle: what a bus may answer, as far as an observer can know."""
