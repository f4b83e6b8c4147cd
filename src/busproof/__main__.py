"""Entry point of `python -m busproof`, which runs the command line."""

import sys

from busproof.cli.main import program

sys.exit(program())
