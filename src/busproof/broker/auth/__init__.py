"""Authorization: access policies with their keys, shared access signatures, and certificates."""
