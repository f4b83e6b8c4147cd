"""Entities: created, described, changed, deleted; topics, subscriptions and their rules."""
