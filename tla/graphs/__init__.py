"""State graphs of the specs, and their comparison with the model or the client oracle."""
