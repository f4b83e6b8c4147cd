"""AMQP frames as clients send and expect them, where Proton's engine is stricter or shorter."""
