"""Imports that all processes of an audit need, done once.

Processes are forked from one that has imported this.
"""

from busproof.cli.running import session
from busproof.spec import load
from busproof.steps.cases import cases, definitions

__all__ = ["session"]

load()
definitions()
# pytest-bdd caches what it has parsed, by the name of the file.
cases(only=None, source=None, replays=False, rules=frozenset())
