"""An embedded AMQP 1.0 broker that serves the reference model to Service Bus clients."""
