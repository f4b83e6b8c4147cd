"""Checks of an adapter: whether it translates as the adapter protocol requires.

They serve the adapter's author and try one thing at a time: whether requests are understood and
answers well formed. They report what was sent, what came back, what the protocol says, and what to
do. Whether the bus keeps the rules is for the suite to check.
"""
