"""How large entities, messages and namespaces may become (SIZE, LIMIT, QUOTA)."""
