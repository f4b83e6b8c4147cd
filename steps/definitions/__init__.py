"""The step definitions of the features, one module a family."""
