"""Judge a recorded run again, with `busproof check`, and compare: `judged_again.py RUN`."""

import sys
import tempfile
from pathlib import Path

from busproof.cli.main import main
from busproof.reports import conformance

run = Path(sys.argv[1])
with tempfile.TemporaryDirectory() as scratch:
    code = main(["check", str(run), "--report", f"{scratch}/again"])
    before, after = conformance.read(run), conformance.read(Path(scratch, "again"))
if (code, after.rules) != (before.exit_code, before.rules):
    sys.exit(f"{run}: the recorded history is not judged as the run was")
