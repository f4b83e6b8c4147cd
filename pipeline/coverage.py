"""Which rules the engine Spark judges, known without Spark."""

import tomllib
from functools import cache
from importlib import resources

from busproof.spec import Rule

__all__ = ["told_of", "without_query"]


@cache
def without_query() -> dict[str, str]:
    """The rules that have no query, and why each has none."""
    file = resources.files("busproof.pipeline").joinpath("without_query.toml")
    groups = tomllib.loads(file.read_text(encoding="utf-8"))["group"]
    return {rule: group["why"] for group in groups for rule in group["rules"].split()}


def told_of(rule: Rule) -> dict[str, str]:
    """The rule's query by its name, or why it has none; nothing of a rule that is never shown."""
    if rule.shown_by == "never":
        return {}
    why = without_query().get(rule.id)
    if why is not None:
        return {"none": why}
    name = rule.id.lower().replace("-", "_")
    return {"query": f"busproof.pipeline.rules.{name}_violations"}
