"""Transactions: sends and settlements in them, and how they end (TXN)."""
