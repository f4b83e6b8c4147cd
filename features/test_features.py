"""All scenarios of this folder, for pytest to find."""

from pathlib import Path

from pytest_bdd import scenarios

from busproof.steps.plugin import loading_our_features

with loading_our_features():
    # A host's own base folder of features is not ours.
    scenarios(".", features_base_dir=str(Path(__file__).parent))
