"""Requests about several messages or locks at once (BATCH, LOCK-14 to LOCK-18)."""
