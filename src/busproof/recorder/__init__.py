"""A proxy between Service Bus clients and a service, which records what they say as a history."""
