"""Results of a run by level: full, partial or not claimed."""

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.errors import UsageError
from busproof.history.conformance import Conformance, RuleVerdict, Verdict
from busproof.reports import overview
from busproof.spec import Catalogue, Level, Rule, load_levels

__all__ = ["LevelFound", "State", "check_required", "levels_found", "not_met", "view"]


class State(StrEnum):
    """The degree to which an implementation was shown to have a level."""

    FULL = "full"
    PARTIAL = "partial"
    NOT_CLAIMED = "not claimed"


@attrs.frozen(kw_only=True)
class LevelFound:
    """A level, and its result in a run.

    Attributes:
        level: the level.
        state: `full` if all of its capabilities are declared and each of its rules that applies was
            shown, at least one; `not claimed` if none of its capabilities is declared.
        shown: the number of its rules that were shown.
        applicable: the number of its rules that apply.
        undeclared: the capabilities that are missing.
        rules: the rules that apply and were not shown.
        violated: the rules among them that were violated.
    """

    level: Level
    state: State
    shown: int
    applicable: int
    undeclared: tuple[str, ...]
    rules: tuple[v.RuleId, ...]
    violated: tuple[v.RuleId, ...]

    @property
    def words(self) -> str:
        """Return text such as `20 of 22 rules shown; not declared: session-state`."""
        if self.state is State.NOT_CLAIMED:
            return ""
        parts = [f"{self.shown} of {self.applicable} rules shown" if self.applicable else _NONE]
        if self.violated:
            parts.append(f"violated: {overview.id_words(self.violated)}")
        if self.undeclared:
            parts.append(f"not declared: {', '.join(self.undeclared)}")
        return "; ".join(parts)


_NONE = "no rule of it applies to this tier, edition and reading"


def levels_found(conformance: Conformance, catalogue: Catalogue) -> tuple[LevelFound, ...]:
    """Return the result for each level; none for a run that was limited to some rules."""
    if conformance.only:
        return ()
    levels = load_levels()
    members: dict[str, list[RuleVerdict]] = {level.id: [] for level in levels.all}
    for verdict in conformance.rules:
        rule = overview.find_rule(catalogue, verdict.id)
        if rule is not None:
            members[levels.of(rule).id].append(verdict)
    declared = conformance.subject.capabilities
    return tuple(
        _judge_level(level, members[level.id], declared, plain=level is levels.all[0])
        for level in levels.all
    )


def _judge_level(
    level: Level, rules: Sequence[RuleVerdict], declared: Collection[str], *, plain: bool
) -> LevelFound:
    undeclared = tuple(name for name in level.capabilities if name not in declared)
    applicable = [rule for rule in rules if rule.verdict is not Verdict.NOT_APPLICABLE]
    left = tuple(rule.id for rule in applicable if rule.verdict is not Verdict.SHOWN)
    # Every bus has to send and receive, whatever else it declares.
    claimed = plain or len(undeclared) < len(level.capabilities)
    state = State.PARTIAL if claimed else State.NOT_CLAIMED
    if applicable and not undeclared and not left:
        state = State.FULL
    return LevelFound(
        level=level,
        state=state,
        shown=len(applicable) - len(left),
        applicable=len(applicable),
        undeclared=undeclared,
        rules=left,
        violated=tuple(rule.id for rule in applicable if rule.verdict is Verdict.VIOLATED),
    )


def check_required(names: Iterable[str], catalogue: Catalogue) -> None:
    """Check that the required levels and capabilities exist, before anything runs.

    Raises:
        UsageError: a name is neither a level nor a capability that a rule needs.
    """
    levels = [level.id for level in load_levels().all]
    capabilities = sorted({name for rule in catalogue.rules for name in _needed_capabilities(rule)})
    for name in names:
        if name not in levels and name not in capabilities:
            raise UsageError(
                f"--require is {name!r}; give a level ({', '.join(levels)}) or a capability that "
                f"rules need ({', '.join(sorted(set(capabilities) - set(levels)))})"
            )


def not_met(
    conformance: Conformance, catalogue: Catalogue, names: Iterable[str]
) -> tuple[str, ...]:
    """Return a sentence for each required level or capability that was not claimed and shown."""
    if conformance.only:
        return (f"the run was limited to {', '.join(conformance.only)}, which shows no level",)
    levels = {result.level.id: result for result in levels_found(conformance, catalogue)}
    sentences = (
        _level_not_met(levels[name])
        if name in levels
        else _capability_not_met(conformance, catalogue, name)
        for name in dict.fromkeys(names)
    )
    return tuple(sentence for sentence in sentences if sentence)


def _level_not_met(result: LevelFound) -> str:
    if result.state is State.FULL:
        return ""
    left = f"; not shown: {overview.id_words(result.rules)}" if result.rules else ""
    words = f": {result.words}{left}" if result.words else ""
    return f"required level {result.level.id} is {result.state.value}{words}"


def _capability_not_met(conformance: Conformance, catalogue: Catalogue, name: str) -> str:
    if name not in conformance.subject.capabilities:
        return f"required capability {name} is not claimed"
    rules = [
        verdict
        for verdict in conformance.rules
        if verdict.verdict is not Verdict.NOT_APPLICABLE
        and name in _needed_capabilities(overview.find_rule(catalogue, verdict.id))
    ]
    left = [rule.id for rule in rules if rule.verdict is not Verdict.SHOWN]
    if not rules:
        return f"required capability {name} is not shown: no rule that needs it applies"
    return f"required capability {name} is not shown: {overview.id_words(left)}" if left else ""


def _needed_capabilities(rule: Rule | None) -> frozenset[str]:
    return frozenset(name for need in (rule.needs if rule else ()) for name in need.split("|"))


def view(result: LevelFound) -> dict[str, Any]:
    """Return a level as plain values for JSON."""
    return {
        "id": result.level.id,
        "title": result.level.title,
        "state": result.state.value,
        "shown": result.shown,
        "applicable": result.applicable,
        "undeclared": list(result.undeclared),
        "not_shown": list(result.rules),
    }
