"""Step definitions of the features, one module per family.

A docstring "Try to …" leaves the outcome to later steps. Other requests must succeed.
"""
