"""Share of seeded faults that an exploration finds without scenarios, and the sizes of failures.

Each fault is explored as by `busproof audit --by exploration`: within the profile `ci`, until one
rule is broken and its failure is shrunk. The result does not depend on the clock, unless the
machine is so slow that the time limit ends the shrinking.
"""

import json
import statistics
import subprocess
import sys

from figures import at_least, at_most, parser, report

from busproof.mutants import MUTANTS

LEAST_KILLED, MOST_COMMANDS = 0.9, 8


def main() -> int:
    """Print the table, or with --json the figures and whether their bounds hold."""
    options = parser(__doc__)
    options.add_argument("faults", nargs="*")
    options.add_argument("--third", type=int, choices=(1, 2, 3), help="every third fault only")
    arguments = options.parse_args()
    faults = arguments.faults
    if arguments.third is not None:
        faults = [mutant.id for mutant in MUTANTS[arguments.third - 1 :: 3]]
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "busproof", "audit", "--by", "exploration"),
            *("--format", "json", *faults),
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ended.returncode > 1:
        return ended.returncode  # it has printed the reason
    audited = json.loads(ended.stdout)["faults"]
    killed = [fault for fault in audited if fault["result"] == "killed"]
    silent = [fault for fault in audited if fault["result"] == "silent"]
    share = len(killed) / (len(killed) + len(silent))
    median = statistics.median(fault["commands"] for fault in killed)
    figures = (
        at_least("seeded faults found by exploration alone", share, LEAST_KILLED),
        at_most("median commands of a shrunk failure", median, MOST_COMMANDS),
    )
    if not arguments.json:
        for fault in sorted(killed, key=lambda one: one["commands"]):
            print(f"{fault['commands']:>4} commands: {fault['id']} ({fault['rule']})")
        own = sum(fault["rule"] in fault["violated"] for fault in killed)
        print(f"{len(killed)} found, {own} of them as the rule that the fault breaks")
        print(f"not found: {', '.join(fault['id'] for fault in silent) or 'none'}")
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
