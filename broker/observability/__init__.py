"""What an operator sees of a broker: its log, metrics, counts and decisions."""
