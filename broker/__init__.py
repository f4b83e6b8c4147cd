"""The embedded AMQP 1.0 broker: it serves the reference model to real Service Bus clients."""
