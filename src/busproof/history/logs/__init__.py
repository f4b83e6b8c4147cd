"""Logs that other programs write of Service Bus, read as histories as far as they go."""
