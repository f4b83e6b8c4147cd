"""Requests about several messages: batches, several locks and batch deletions (BATCH, LOCK)."""
