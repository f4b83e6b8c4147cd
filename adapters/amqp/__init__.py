"""An AMQP 1.0 service as an implementation: any that speaks the dialect of Service Bus."""
