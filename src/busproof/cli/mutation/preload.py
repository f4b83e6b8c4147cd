"""What every process of an audit reads before it begins, read once by importing this.

They are forked from one that has imported it; without it 37 faults took 36 s in the place of 33.
"""

from importlib import resources

from pytest_bdd.feature import get_features

from busproof.spec import load
from busproof.steps.plugin import loading_our_features

load()
with resources.as_file(resources.files("busproof.features")) as _folder, loading_our_features():
    # pytest-bdd keeps what it has parsed, by the file's name.
    get_features([str(_folder)])
