"""What breaks when a client moves to another namespace: two models follow the same answers."""
