"""Limits on entities, messages and namespaces (SIZE, LIMIT, QUOTA)."""
