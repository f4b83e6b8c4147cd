"""Management of entities: creation, updates, descriptions, lists, deletion, subscription rules."""
