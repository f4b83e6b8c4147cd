"""Authorization: shared access signatures, policies with their keys, and certificates."""
