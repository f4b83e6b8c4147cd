"""The reference model: a pure state machine of the documented rules."""
