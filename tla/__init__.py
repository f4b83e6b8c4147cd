"""The TLA+ modules, their configurations, and the results that are expected of checking them."""
