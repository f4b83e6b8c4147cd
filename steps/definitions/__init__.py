"""Step definitions of the features, one module per family.

A step whose docstring begins with "Try to" leaves it to later steps to check the outcome. Other
requests must succeed.
"""
