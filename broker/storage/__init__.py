"""The durable store: what a commit writes, and how a broker starts on what is there."""
