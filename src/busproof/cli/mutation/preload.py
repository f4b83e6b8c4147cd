"""Imports that all processes of an audit need, done once.

Processes are forked from one that has imported this.
"""

from busproof.cli import failures
from busproof.cli.running import session
from busproof.exploration import settling
from busproof.history.codec import generate_code
from busproof.judging import audit
from busproof.spec import load
from busproof.steps.cases import cases, definitions

__all__ = ["audit", "failures", "session", "settling"]

load()
generate_code()
for definition in definitions():
    # The first match compiles the pattern.
    definition.parser.is_matching("")
# pytest-bdd caches what it has parsed, by the name of the file.
cases(only=None, source=None, replays=False, rules=frozenset())
