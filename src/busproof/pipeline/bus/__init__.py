"""A bus written as Spark expressions: a fold over commands.

It implements the rules independently of the model, so that the two can be compared.
"""
