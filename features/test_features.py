"""The scenarios of this folder, for pytest to find."""

from pathlib import Path

from pytest_bdd import scenarios

from busproof.steps.plugin import features_asked_for, loading_our_features

HERE = Path(__file__).parent

with loading_our_features():
    # A host's own base folder of features is not ours.
    scenarios(*features_asked_for(HERE), features_base_dir=str(HERE))
