"""The pytest plugin and the steps of the features."""
