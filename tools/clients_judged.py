"""Judge the clients of `examples/clients`, and write the section on them in docs/results.md.

With names of clients, only these are judged anew. The reports are in `reports/clients/NAME`. It
returns 1 if a rule was left open: what a client breaks is a result, and no failure of this program.
`make nightly` calls it.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
HERE: Final = ROOT / "examples" / "clients"
REPORTS: Final = ROOT / "reports" / "clients"
PAGE: Final = ROOT / "docs" / "results.md"
BEGIN, END = "<!-- clients judged -->\n", "<!-- end of clients judged -->\n"
SECTION: Final = re.compile(f"{BEGIN}.*{END}", re.DOTALL)
CLIENTS: Final = {
    "azure-servicebus": [sys.executable, str(HERE / "azure_servicebus.py")],
    "@azure/service-bus": ["node", str(HERE / "azure_service_bus.mjs")],
    "python-qpid-proton": [sys.executable, str(HERE / "proton_client.py")],
    "rhea": ["node", str(HERE / "rhea_client.mjs")],
}
"""The command of each client's program, by package."""
FINE: Final = ("shown", "not applicable")
OPEN: Final = {"not shown", "inconclusive", "errored"}
INTRODUCTION: Final = """\

## Clients

`busproof client` on the programs in `examples/clients`, which `make nightly PART=clients-judged` judges; [how it works](how-to/test-a-client.md).
Where a client has no protocol of Service Bus of its own, as Proton and rhea, the program is the client.
"""  # noqa: E501 - one sentence a line


def main() -> int:
    """Judge clients, and write the section; return 1 if a rule was left open."""
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(install, cwd=HERE, check=True)
    unknown = sorted(set(sys.argv[1:]) - set(CLIENTS))
    if unknown:
        print(f"there is no client {unknown[0]!r}; there are {', '.join(CLIENTS)}", file=sys.stderr)
        return 2
    for name in sys.argv[1:] or CLIENTS:
        judge(name)
    reports = {f"{name} {version_of(name)}": read_report(name) for name in CLIENTS}
    page = PAGE.read_text(encoding="utf-8")
    section = BEGIN + write_section(reports) + END
    written = SECTION.sub(lambda _: section, page) if BEGIN in page else f"{page}\n{section}"
    PAGE.write_text(written, encoding="utf-8")
    verdicts = {rule["verdict"] for report in reports.values() for rule in report["rules"]}
    return int(bool(verdicts & OPEN))


def version_of(package: str) -> str:
    """Return the version of an installed package."""
    described = HERE / "node_modules" / package / "package.json"
    if described.exists():
        return str(json.loads(described.read_text(encoding="utf-8"))["version"])
    return importlib.metadata.version(package)


def folder_of(name: str) -> Path:
    """Return the folder for a client's report."""
    return REPORTS / name.replace("/", "-").strip("@")


def judge(name: str) -> None:
    """Judge a client."""
    words = (sys.executable, "-m", "busproof", "client", "--report", str(folder_of(name)), "--")
    # Whatever the verdicts are, they are told.
    subprocess.run([*words, *CLIENTS[name]], check=False)


def read_report(name: str) -> dict[str, Any]:
    """Return the report on a client."""
    text = (folder_of(name) / "client.json").read_text(encoding="utf-8")
    report: dict[str, Any] = json.loads(text)
    return report


def write_section(reports: dict[str, dict[str, Any]]) -> str:
    """Return the section: a table of verdicts, and what was seen where a rule is not kept."""
    titles = {rule["rule"]: rule["title"] for one in reports.values() for rule in one["rules"]}
    verdicts = {
        name: {rule["rule"]: rule["verdict"] for rule in report["rules"]}
        for name, report in reports.items()
    }
    lines = [INTRODUCTION]
    lines.append(f"| rule | {' | '.join(reports)} |")
    lines.append(f"| :-- |{' :-- |' * len(reports)}")
    for rule, title in titles.items():
        cells = (verdicts[name].get(rule, "-") for name in reports)
        lines.append(f"| {rule}: {title} | {' | '.join(cells)} |")
    lines.append("")
    for name, report in reports.items():
        told = [one for one in report["rules"] if one["verdict"] not in FINE]
        state, end = report["level"]["state"], ":\n" if told else "."
        lines.append(f"{name}: level client {state}{end}")
        lines += [f"- {one['rule']} {one['verdict']}: {one['said']}" for one in told]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
