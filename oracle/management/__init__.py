"""Management of entities: queues, topics, subscriptions and their rules."""
