"""Collection of the scenarios in this folder."""

from pathlib import Path

from pytest_bdd import scenarios

from busproof.steps.plugin import features_asked_for, loading_our_features

HERE = Path(__file__).parent

with loading_our_features():
    # Set the base folder, because a host project may have its own.
    scenarios(*features_asked_for(HERE), features_base_dir=str(HERE))
