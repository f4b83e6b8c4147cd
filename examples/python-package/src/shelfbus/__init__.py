"""A small bus: each queue is a row of shelves, and a message stays on the shelf it was put on."""
