"""Adapters for services whose messages are reached over HTTP, in the manner of Service Bus."""
