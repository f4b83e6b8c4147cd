"""Subscription rules in XML, as the administration over HTTP has them."""

from typing import Any, Final
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from busproof import vocabulary as v
from busproof.adapters.amqp.entities import ATOM, SB
from busproof.errors import AdapterError

__all__ = ["rule_of", "write_rule"]

XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
XSD: Final = "http://www.w3.org/2001/XMLSchema"
TYPE: Final = f"{{{XSI}}}type"
TEXTS: Final = (
    ("CorrelationId", "correlation_id"),
    ("MessageId", "message_id"),
    ("To", "to"),
    ("ReplyTo", "reply_to"),
    ("Label", "subject"),
    ("SessionId", "session_id"),
    ("ReplyToSessionId", "reply_to_session_id"),
    ("ContentType", "content_type"),
)
"""Fields of a correlation filter, in the order in which the service reads them."""
PAIR: Final = "KeyValueOfstringanyType"
READ: Final[dict[str, Any]] = {
    "boolean": lambda text: text == "true",
    "double": float,
    "int": int,
    "long": int,
}


def write_rule(rule: str, chosen: v.Filter, action: str | None) -> str:
    """Return the description of a rule."""
    acts = '<Action i:type="EmptyRuleAction"/>'
    if action is not None:
        acts = f'<Action i:type="SqlRuleAction">{_write_sql(action)}</Action>'
    return (
        f'<RuleDescription xmlns="{SB}" xmlns:i="{XSI}">{_write_filter(chosen)}{acts}'
        f"<Name>{escape(rule)}</Name></RuleDescription>"
    )


def _write_sql(expression: str) -> str:
    return f"<SqlExpression>{escape(expression)}</SqlExpression>"


def _write_filter(chosen: v.Filter) -> str:
    match chosen:
        case v.SqlFilter(expression=expression):
            inside = _write_sql(expression)
        case v.TrueFilter():
            inside = _write_sql("1=1")
        case v.FalseFilter():
            inside = _write_sql("1=0")
        case v.CorrelationFilter():
            inside = _write_correlation(chosen)
    return f'<Filter i:type="{type(chosen).__name__}">{inside}</Filter>'


def _write_correlation(chosen: v.CorrelationFilter) -> str:
    texts = (
        f"<{theirs}>{escape(value)}</{theirs}>"
        for theirs, ours in TEXTS
        if (value := getattr(chosen, ours)) is not None
    )
    pairs = (
        f"<{PAIR}><Key>{escape(name)}</Key>{_write_value(value)}</{PAIR}>"
        for name, value in chosen.properties.items()
    )
    properties = f"<Properties>{''.join(pairs)}</Properties>" if chosen.properties else ""
    return "".join(texts) + properties


def _write_value(value: v.FilterValue) -> str:
    kind = "string"
    text = str(value)
    if isinstance(value, bool):
        kind = "boolean"
        text = text.lower()
    elif isinstance(value, int):
        kind = "long" if abs(value) >= 2**31 else "int"
    elif isinstance(value, float):
        kind = "double"
    return f'<Value i:type="d6p1:{kind}" xmlns:d6p1="{XSD}">{escape(text)}</Value>'


def rule_of(entry: ET.Element) -> v.SubscriptionRule:
    """Return a rule from an entry of a list.

    Raises:
        AdapterError: the entry has no rule, or its filter is of an unknown kind.
    """
    element = entry.find(f"{{{ATOM}}}content/{{{SB}}}RuleDescription")
    chosen = None if element is None else element.find(f"{{{SB}}}Filter")
    if element is None or chosen is None:
        raise AdapterError("a list of rules has an entry without a rule")
    action = element.find(f"{{{SB}}}Action")
    acts = action is not None and _kind_of(action) == "SqlRuleAction"
    title = entry.findtext(f"{{{ATOM}}}title")
    return v.SubscriptionRule(
        name=element.findtext(f"{{{SB}}}Name") or title or "",
        filter=_read_filter(chosen),
        action=action.findtext(f"{{{SB}}}SqlExpression") if acts and action is not None else None,
    )


def _kind_of(element: ET.Element) -> str:
    return element.get(TYPE, "").rpartition(":")[2]


def _read_filter(element: ET.Element) -> v.Filter:
    match _kind_of(element):
        case "TrueFilter":
            return v.TrueFilter()
        case "FalseFilter":
            return v.FalseFilter()
        case "SqlFilter":
            return v.SqlFilter(expression=element.findtext(f"{{{SB}}}SqlExpression") or "")
        case "CorrelationFilter":
            texts: dict[str, Any] = {
                ours: element.findtext(f"{{{SB}}}{theirs}") for theirs, ours in TEXTS
            }
            pairs = element.iter(f"{{{SB}}}{PAIR}")
            return v.CorrelationFilter(**texts, properties=dict(map(_read_property, pairs)))
        case other:
            raise AdapterError(f"a rule is listed with a filter of kind {other!r}, not known here")


def _read_property(pair: ET.Element) -> tuple[str, v.FilterValue]:
    value = pair.find(f"{{{SB}}}Value")
    text = "" if value is None else value.text or ""
    kind = "" if value is None else _kind_of(value)
    return pair.findtext(f"{{{SB}}}Key") or "", READ.get(kind, str)(text)
