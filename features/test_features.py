"""All scenarios of this folder, for pytest to find."""

from pytest_bdd import scenarios

from busproof.steps.plugin import loading_our_features

with loading_our_features():
    scenarios(".")
