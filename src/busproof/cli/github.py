"""Annotations and groups in the log of a step, as GitHub Actions reads them."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal

from busproof.cli.console import write_aside

if TYPE_CHECKING:
    from busproof.history.conformance import Conformance

__all__ = ["annotate", "annotate_failures", "annotate_verdicts", "group", "is_asked"]

MOST: Final = 10
"""Maximum number of annotations of one kind that GitHub keeps for a step."""


def is_asked() -> bool:
    """Return whether the output goes to a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotate(level: Literal["error", "warning", "notice"], title: str, text: str) -> None:
    """Add an annotation if this is a step of a workflow; otherwise do nothing."""
    if is_asked():
        write_aside(f"::{level} title={_property(title)}::{_data(text)}")


def annotate_failures(failures: Iterable[tuple[str, str]]) -> None:
    """Add an annotation for each title and text, as far as GitHub keeps them; count the rest."""
    listed = list(failures)
    shown = listed if len(listed) <= MOST else listed[: MOST - 1]
    for title, text in shown:
        annotate("error", title, text)
    if left := len(listed) - len(shown):
        annotate("error", f"{left} more", "The log lists them.")


def annotate_verdicts(conformances: "Iterable[Conformance]") -> None:
    """Add an annotation for each rule that is violated."""
    if not is_asked():
        return
    from busproof.history.conformance import Verdict
    from busproof.spec import load

    catalogue = load()
    annotate_failures(
        (f"{rule.id} is violated", f"{catalogue.rule(rule.id).statement} ({one.subject.edition})")
        for one in conformances
        for rule in one.rules
        if rule.verdict is Verdict.VIOLATED
    )


@contextmanager
def group(title: str) -> Iterator[None]:
    """Fold the output inside the block, in GitHub Actions."""
    if not is_asked():
        yield
        return
    sys.stdout.write(f"::group::{_data(title)}\n")
    try:
        yield
    finally:
        sys.stdout.write("::endgroup::\n")


def _data(text: str) -> str:
    """Escape text as the data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape text as a property of a workflow command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
