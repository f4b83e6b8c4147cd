"""Which rules an event breaks that nothing allowed."""
