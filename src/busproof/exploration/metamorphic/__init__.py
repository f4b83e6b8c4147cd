"""Metamorphic testing: sequences of scenarios are transformed and sent once more.

A scenario tries a plain queue. A bus may handle the same commands wrongly on a subscription, in a
dead-letter queue, in a session, in a batch, beside a transaction, or after a day. So the sequence
of a scenario, the *source*, is sent again as a *follow-up*: with another entity in the place of its
queues, in other circumstances, or both. The judge alone decides which answers are allowed.
"""
