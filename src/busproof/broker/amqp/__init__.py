"""AMQP 1.0 as Service Bus clients use it, with what Proton's engine lacks or refuses."""
