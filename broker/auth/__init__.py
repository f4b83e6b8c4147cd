"""Who may do what: shared access signatures, policies with their keys, certificates."""
