"""Parameters of SQL, such as `@p`: their values are put in their places as literals."""

import re
from collections.abc import Mapping
from typing import Final

from busproof.filters.parser import LONGEST
from busproof.filters.printing import literal
from busproof.vocabulary.messages import PropertyValue

__all__ = ["insert_values"]

_PARAMETER: Final = re.compile(r"""'(?:[^']|'')*'|\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*"|@[^\W\d]\w*""")
"""A parameter, or a text or a name in which an `@` begins none."""


def insert_values(expression: str, values: Mapping[str, PropertyValue]) -> str:
    """Return an expression with the values of its parameters in their places.

    A value becomes a literal, so a text cannot add a condition. A parameter without a value stays,
    and the expression is refused for it; so is one that is too long, which is not made longer.
    """
    if not values or len(expression) > LONGEST:
        return expression
    # The clients write the names with their `@`, in any case.
    known = {f"@{name.lower().removeprefix('@')}": value for name, value in values.items()}

    def put(match: re.Match[str]) -> str:
        name = match[0].lower()
        return literal(known[name]) if name in known else match[0]

    return _PARAMETER.sub(put, expression)
