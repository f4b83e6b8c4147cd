"""Step definitions of the features, one module per family.

A step whose docstring begins with "Try to" leaves it to later steps to check the outcome, and so
does the present tense of a sentence that has two. Other requests must succeed.
"""
