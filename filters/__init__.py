"""Filters and actions of subscription rules: the subset of SQL, and correlation filters."""
