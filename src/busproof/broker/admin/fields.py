"""The fields of JSON requests and of queries under `/busproof/`."""

import json
from collections.abc import Mapping
from typing import Any, Final

from busproof.broker.bounds import check_bound, number_in
from busproof.broker.http_requests import Request

__all__ = ["Problem", "body_of", "number_of", "whole_in", "whole_of"]

AGES: Final = 10**11
"""A number of seconds, above 3,000 years, that no advance of a clock may reach."""


class Problem(Exception):
    """A request to the control endpoint that is refused, with its status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def body_of(request: Request) -> Mapping[str, Any]:
    """Return the JSON object in the body of a request.

    Raises:
        Problem: the body is not a JSON object.
    """
    try:
        fields = json.loads(request.body or b"null")
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise Problem(400, "The body has to be a JSON object.")
    return fields


def number_of(fields: Mapping[str, Any], name: str) -> float:
    """Return a field that is a number of seconds.

    Raises:
        Problem: the field is not such a number.
    """
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < AGES:
        raise Problem(400, f"{name} is {value!r}; it has to be a number of seconds, 0 or more.")
    return float(value)


def whole_of(fields: Mapping[str, Any], name: str) -> int:
    """Return a field that is an integer within the field's bounds.

    Raises:
        Problem: the field is not such an integer.
    """
    value = fields.get(name)
    try:
        return check_bound(name, value)
    except ValueError as error:
        raise Problem(400, f"{error}.") from None


def whole_in(text: str, name: str) -> int:
    """Parse an integer within the bounds of a field.

    Raises:
        Problem: the text is not such an integer.
    """
    try:
        return number_in(name, text)
    except ValueError as error:
        raise Problem(400, f"{error}.") from None
