"""Transactions: what was sent and settled in them, and their ends (TXN)."""
