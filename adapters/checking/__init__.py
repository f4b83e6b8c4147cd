"""The protocol's own tests: whether an adapter translates as busproof expects, told to its author.

They ask whether requests are understood and answers well formed, one thing at a time, and say what
was sent, what came, what the protocol says and what to do. Whether the bus keeps the rules is asked
by the suite.
"""
