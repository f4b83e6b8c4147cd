"""The TLA+ modules, their configurations, and what is to come of checking them."""
