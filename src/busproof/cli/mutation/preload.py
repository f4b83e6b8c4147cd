"""Imports that all processes of an audit need, done once.

Processes are forked from one that has imported this; without it, 37 faults took 36 s instead of 33.
"""

from importlib import resources

from pytest_bdd.feature import get_features

from busproof.spec import load
from busproof.steps.plugin import loading_our_features

load()
with resources.as_file(resources.files("busproof.features")) as _folder, loading_our_features():
    # pytest-bdd caches what it has parsed, by the name of the file.
    get_features([str(_folder)])
