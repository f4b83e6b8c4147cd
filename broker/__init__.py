"""The embedded AMQP 1.0 broker, which serves the reference model to Service Bus clients."""
