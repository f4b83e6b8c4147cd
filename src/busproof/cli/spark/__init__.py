"""Parts of commands that use Spark: check, follow a folder, simulate."""
