"""A bus of Spark expressions: the rules once more, without the model's, as a fold over commands."""
