"""How many seeded faults an exploration finds without any scenario, and by how few commands.

Each fault is explored as `busproof audit --by exploration` does it: within the profile `ci`, until
one rule is broken, which is then made small. Nothing of this depends on the clock, unless the
machine is so slow that time ends the search for a smaller failure.
"""

import argparse
import json
import statistics
import subprocess
import sys

LEAST_KILLED, MOST_COMMANDS = 0.9, 8


def main() -> int:
    """Print the table, or with --json the figures and whether their bounds hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    ended = subprocess.run(  # noqa: S603 - our own command
        [
            *(sys.executable, "-m", "busproof", "audit", "--by", "exploration"),
            *("--format", "json", *arguments.faults),
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    found = json.loads(ended.stdout)["faults"]
    killed = [each for each in found if each["result"] == "killed"]
    silent = [each for each in found if each["result"] == "silent"]
    share = len(killed) / (len(killed) + len(silent))
    median = statistics.median(each["commands"] for each in killed)
    figures = [
        {
            "figure": "seeded faults found by exploration alone",
            "value": share,
            "bound": LEAST_KILLED,
            "holds": share >= LEAST_KILLED,
        },
        {
            "figure": "median commands of a shrunk failure",
            "value": median,
            "bound": MOST_COMMANDS,
            "holds": median <= MOST_COMMANDS,
        },
    ]
    if arguments.json:
        print(json.dumps(figures))
    else:
        for each in sorted(killed, key=lambda one: one["commands"]):
            print(f"{each['commands']:>4} commands: {each['id']} ({each['rule']})")
        own = sum(each["rule"] in each["violated"] for each in killed)
        print(f"{len(killed)} found, {own} of them as the rule that the fault breaks")
        print(f"not found: {', '.join(each['id'] for each in silent) or 'none'}")
        for figure in figures:
            print(f"{figure['figure']}: {figure['value']:.2f} (bound {figure['bound']})")
    return 0 if all(figure["holds"] for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
