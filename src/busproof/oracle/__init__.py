"""The oracle: it judges which answers a bus may give, as far as an observer can know."""
