"""Run all paths of the TLA+ specs on the reference model; fail if a verdict is wrong."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
NOT_ALL_SHOWN: Final = 3


def main() -> int:
    """Run the paths; return 1 if a rule is violated, errored or inconclusive, or none is shown."""
    command = [sys.executable, "-m", "busproof", "run", "--from", "tla", "--name", "paths"]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code not in (0, NOT_ALL_SHOWN):
        return 1
    report = json.loads((ROOT / "reports/runs/paths/conformance.json").read_text(encoding="utf-8"))
    summary = report["summary"]
    wrong = [name for name in ("violated", "errored", "inconclusive") if summary[name]]
    return 1 if wrong or not summary["shown"] else 0


if __name__ == "__main__":
    sys.exit(main())
