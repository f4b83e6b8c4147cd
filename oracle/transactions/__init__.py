"""Transactions: their sends, settlements and ends (TXN)."""
