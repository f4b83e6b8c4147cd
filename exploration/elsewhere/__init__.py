"""Sequences of scenarios, asked once more in another place or in another way.

A scenario tries a plain queue. A bus may do the same wrong on a subscription, in a dead-letter
queue, in a session, in a batch, beside a transaction, or after a day. So the commands of scenarios
are changed by machine and sent again, and the judge alone decides which answers are allowed.
"""
