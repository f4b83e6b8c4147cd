"""Filters and actions of subscription rules: the documented SQL, and correlation filters."""
