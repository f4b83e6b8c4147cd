"""Checks of the process protocol: whether an adapter translates as busproof expects.

They check one thing at a time, for the adapter's author: whether requests are understood and
answers well formed. They report what was sent, what came back, what the protocol says, and what to
do. The suite itself checks the rules of the bus.
"""
