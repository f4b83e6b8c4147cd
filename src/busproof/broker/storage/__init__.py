"""The durable store: what a commit writes, and how a broker starts from it."""
