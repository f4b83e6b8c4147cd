"""Confirmation of suspicions: the judge judges only components that look suspicious.

Only what the judge confirms is a violation, so screening accuses nobody wrongly. It never shows
that a rule holds, because the other components are not judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from busproof import vocabulary as v
from busproof.history.conformance import Conformance, RuleVerdict, Verdict
from busproof.history.records import Header
from busproof.judging.applicability import Terms
from busproof.judging.summary import Summary, in_order
from busproof.judging.verdicts import exit_code, verdicts
from busproof.pipeline.components import OUTSIDE
from busproof.pipeline.judge import split_into_components
from busproof.pipeline.keeping import keep_rows
from busproof.pipeline.screening.suspicions import SCREENED, UNREADABLE

__all__ = ["Findings", "Suspected", "conclude", "find_suspects", "findings_of"]

_WITHOUT_SUSPICION: Final = (
    "not judged: screening looked for violations and confirmed none, which shows nothing"
)
_NOT_SCREENED: Final = "not judged: screening does not look for violations of this rule"


@attrs.frozen(kw_only=True, eq=False)
class Suspected:
    """Components with at least one suspicion.

    Attributes:
        suspicions: the suspicions.
        components: one row per component: history_id, part.
        rows: the lines of the components, as `judge.judged` reads them.
    """

    suspicions: DataFrame
    components: DataFrame
    rows: DataFrame


@attrs.frozen(kw_only=True)
class Findings:
    """The result of screening.

    Attributes:
        rules: the number of suspicions, by rule.
        components: the number of components that have a suspicion and were judged.
        confirmed: the number of these that have a violation.
        unreadable: the number of lines that are not records.
    """

    rules: Mapping[str, int]
    components: int
    confirmed: int
    unreadable: int = 0


def find_suspects(rows: DataFrame, header: Header, suspicions: DataFrame) -> Suspected:
    """Return the components that a suspicion points to."""
    readable = suspicions.where(sf.col("rule") != UNREADABLE)
    histories = readable.select("history_id").distinct()
    some = rows.join(sf.broadcast(histories), "history_id", "left_semi")
    if header.clock is not v.Clock.REAL:
        return Suspected(
            suspicions=suspicions,
            components=split_into_components(histories, header),
            rows=split_into_components(some, header),
        )
    numbered = split_into_components(keep_rows(some), header)
    places = readable.select("history_id", "line").distinct()
    marked = numbered.join(sf.broadcast(places), ["history_id", "line"])
    components = keep_rows(marked.select("history_id", "part").distinct())
    # An unusable line may be an event of any part, so every part gets it.
    outside = histories.withColumn("part", sf.lit(OUTSIDE).cast("long"))
    wanted = sf.broadcast(components.union(outside))
    return Suspected(
        suspicions=suspicions,
        components=components,
        rows=numbered.join(wanted, ["history_id", "part"], "left_semi"),
    )


def findings_of(suspected: Suspected, violations: DataFrame) -> Findings:
    """Count the suspicions, and how many components the judge has confirmed.

    Args:
        suspected: the components that were judged.
        violations: one row for each violation, with history_id and part.
    """
    by_rule = suspected.suspicions.groupBy("rule").count().collect()
    counted = {row["rule"]: row["count"] for row in by_rule}
    return Findings(
        unreadable=counted.pop(UNREADABLE, 0),
        rules=dict(sorted(counted.items())),
        components=suspected.components.count(),
        confirmed=violations.select("history_id", "part").distinct().count(),
    )


def conclude(
    header: Header,
    terms: Terms,
    summary: Summary,
    findings: Findings,
    problems: Sequence[str] = (),
) -> Conformance:
    """Return the verdicts after screening: violations, but no rule that is shown to hold.

    Args:
        header: the header of the recording.
        terms: the terms of judging.
        summary: the summary of the components that were judged.
        findings: the result of screening.
        problems: sentences about lines that cannot be used.
    """
    conformance = verdicts(attrs.evolve(header, planned=None), terms, summary)
    rules = tuple(map(_never_shown, conformance.rules))
    all_problems = (
        *_sentences(findings),
        *in_order(summary.interrupted),
        *in_order(summary.exhausted),
        *problems,
    )
    return attrs.evolve(
        conformance,
        rules=rules,
        problems=all_problems,
        exit_code=exit_code(rules, all_problems),
        explored=None,
    )


def _never_shown(rule: RuleVerdict) -> RuleVerdict:
    if rule.verdict not in (Verdict.SHOWN, Verdict.NOT_SHOWN):
        return rule
    cause = _WITHOUT_SUSPICION if rule.id in SCREENED else _NOT_SCREENED
    return attrs.evolve(rule, verdict=Verdict.NOT_SHOWN, cause=cause, events=0, scenarios=())


def _sentences(findings: Findings) -> Iterator[str]:
    yield (
        f"the history was screened for violations of {len(SCREENED)} rules and not judged; "
        "other rules may be broken in it"
    )
    about = ", ".join(f"{rule} {number}" for rule, number in findings.rules.items())
    alone = findings.components == 1
    cleared = findings.components - findings.confirmed
    yield (
        f"{findings.components} component{'' if alone else 's'} looked suspicious"
        f"{f' ({about})' if about else ''} and {'was' if alone else 'were'} judged: "
        f"{findings.confirmed} with a violation, {cleared} without a confirmed one"
    )
    if findings.unreadable:
        yield (
            f"{findings.unreadable} line{'' if findings.unreadable == 1 else 's'} could not be "
            "read, and screening left them out"
        )
