"""Results of model checking as plain values for JSON; the keys are part of the interface."""

from typing import Any

import attrs

from busproof.tla.manifest import Configuration
from busproof.tla.mutants import Fate
from busproof.tla.render import exchanges_in, gherkin, story
from busproof.tla.running import Ran

__all__ = ["view_configuration", "view_fate", "view_ran"]


def view_configuration(configuration: Configuration) -> dict[str, Any]:
    """Return a configuration, with the fields of the manifest."""
    return attrs.asdict(configuration)


def view_ran(ran: Ran) -> dict[str, Any]:
    """Return the result of a configuration."""
    view: dict[str, Any] = {
        "name": ran.configuration.name,
        "kind": ran.configuration.kind.value,
        "passed": ran.passed,
        "error": ran.error,
        "deviations": list(ran.deviations),
    }
    if (checked := ran.checked) is not None:
        steps = exchanges_in(checked.trace)
        setting = ran.setting
        view |= {
            "result": checked.result,
            "violated": checked.violated,
            "distinct": checked.distinct,
            "generated": checked.generated,
            "depth": checked.depth,
            "seconds": round(checked.seconds, 2),
            "actions": {name: list(counts) for name, counts in checked.actions.items()},
            "trace": list(story(steps, setting)),
            "scenario": gherkin(checked.violated, steps, setting) if steps else "",
        }
    if (comparison := ran.comparison) is not None:
        view["comparison"] = {
            "edges": comparison.edges,
            "states": comparison.states,
            "open": comparison.open,
            "disagreeing": comparison.disagreeing,
            "seconds": round(ran.comparing, 2),
        }
    return view


def view_fate(fate: Fate) -> dict[str, Any]:
    """Return the result of a mutant."""
    return {
        "name": fate.mutant.name,
        "rule": fate.mutant.rule,
        "module": fate.mutant.module,
        "killed": fate.killed,
        "killer": fate.mutant.killer,
        "told": fate.killer,
        "seconds": round(fate.seconds, 2),
    }
