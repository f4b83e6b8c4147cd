"""AMQP as Service Bus clients speak it, in places where Proton's engine is stricter or terser."""
