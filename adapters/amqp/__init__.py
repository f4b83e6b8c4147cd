"""Adapters for services that use Service Bus's dialect of AMQP 1.0, and for plain AMQP brokers."""
