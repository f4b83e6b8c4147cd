"""State graphs of the specs, compared with the model and with the client oracle."""
