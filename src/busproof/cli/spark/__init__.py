"""What the command line does on Spark: checking, following a folder, simulating."""
