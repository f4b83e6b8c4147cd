"""Sequences of scenarios, sent once more in another place or in another manner.

A scenario tries a plain queue. A bus may handle the same commands wrongly on a subscription, in a
dead-letter queue, in a session, in a batch, beside a transaction, or after a day. So the commands
of scenarios are changed by machine and sent again, and the judge alone decides which answers are
allowed.
"""
