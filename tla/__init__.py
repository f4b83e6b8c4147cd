"""The TLA+ modules, their configurations, and the expected results of checking them."""
