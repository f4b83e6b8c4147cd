"""Commands, outcomes and events as text."""
