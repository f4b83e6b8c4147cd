"""Print the outputs of action.yml for a run: its counts of verdicts and the paths of its reports.

    tools/action_outputs.py reports/runs/conformance >>"$GITHUB_OUTPUT"

It needs only Python, because a project may use another version of busproof.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

COUNTED: Final = (
    "applicable",
    "shown",
    "violated",
    "known failure",
    "not shown",
    "inconclusive",
    "errored",
    "not applicable",
)


def outputs(folder: Path) -> Iterator[str]:
    """Yield a line for each output; none for a run without a report."""
    report = folder / "conformance.json"
    if not report.exists():
        return
    summary = json.loads(report.read_text(encoding="utf-8"))["summary"]
    for name in COUNTED:
        yield f"{name.replace(' ', '-')}={int(summary[name])}"
    yield f"json={report.as_posix()}"
    for name, file in (("report", "conformance.html"), ("badges", "badges")):
        if (folder / file).exists():
            yield f"{name}={(folder / file).as_posix()}"


if __name__ == "__main__":
    print("\n".join(outputs(Path(sys.argv[1]))))
