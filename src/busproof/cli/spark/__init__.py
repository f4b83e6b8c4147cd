"""Commands on Spark: check, follow a folder, simulate."""
