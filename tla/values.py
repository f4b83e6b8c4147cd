r"""Parse TLA+ values, as printed by TLC, into plain Python values.

| TLA+ | Python |
| --- | --- |
| `TRUE`, `FALSE` | bool |
| `-3` | int |
| `"text"` | str |
| a model value | `ModelValue` |
| `<<1, 2>>` | tuple |
| `{1, 2}`, `1..3` | frozenset |
| `[a \|-> 1]`, `(1 :> 2 @@ 3 :> 4)` | `Function`: a persistent map; a record has texts as keys |

All values are hashable, so that states can be compared.
"""

import re
from collections.abc import Iterator
from typing import Final

from immutables import Map

from busproof.errors import TlcError

__all__ = ["Function", "ModelValue", "Value", "parse"]


class ModelValue(str):
    """A model value, which has a name and equals only itself."""

    __slots__ = ()


Function = Map["Value", "Value"]
Value = bool | int | str | tuple["Value", ...] | frozenset["Value"] | Function

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<number>-?\d+)
      | (?P<mark><<|>>|\|->|:>|@@|\.\.|[][{}(),])
      | (?P<name>\w+)
    )""",
    re.VERBOSE,
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_WORDS: Final[dict[str, bool]] = {"TRUE": True, "FALSE": False}


def parse(text: str) -> Value:
    """Return the value that TLC has printed as this text.

    Raises:
        TlcError: the text is not a TLA+ value.
    """
    tokens = _Tokens(text)
    value = _value(tokens)
    if tokens.kind:
        raise tokens.wrong("the end")
    return value


class _Tokens:
    """Tokens of a text; `kind` and `word` are those of the next one, and empty at the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self.take()

    def _split(self) -> Iterator[tuple[str, str]]:
        place = 0
        while self._text[place:].strip() if place + 1 >= len(self._text) else True:
            match = _TOKEN.match(self._text, place)
            if match is None:
                if self._text[place:].strip():
                    raise TlcError(f"no TLA+ value: {self._text[place : place + 40]!r}")
                return
            place = match.end()
            kind = match.lastgroup or ""
            yield kind, match[kind]

    def take(self) -> str:
        """Return the next word, and go on to the one after it."""
        taken = getattr(self, "word", "")
        self.kind, self.word = next(self._tokens, ("", ""))
        return taken

    def expect(self, mark: str) -> None:
        if self.word != mark or self.kind != "mark":
            raise self.wrong(repr(mark))
        self.take()

    def wrong(self, wanted: str) -> TlcError:
        return TlcError(
            f"no TLA+ value: {wanted} is missing at {self.word!r} in {self._text[:80]!r}"
        )


def _value(tokens: _Tokens) -> Value:
    kind, word = tokens.kind, tokens.word
    if kind == "text":
        return _unquote(tokens.take())
    if kind == "number":
        return _number(tokens)
    if kind == "name":
        tokens.take()
        return _WORDS[word] if word in _WORDS else ModelValue(word)
    openers = {"<<": _sequence, "{": _set, "[": _record, "(": _function}
    if word not in openers:
        raise tokens.wrong("a value")
    tokens.take()
    return openers[word](tokens)


def _unquote(word: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), word[1:-1])


def _number(tokens: _Tokens) -> Value:
    first = int(tokens.take())
    if tokens.word != "..":
        return first
    tokens.take()
    return frozenset(range(first, int(tokens.take()) + 1))


def _items(tokens: _Tokens, end: str) -> Iterator[Value]:
    while tokens.word != end:
        yield _value(tokens)
        if tokens.word != end:
            tokens.expect(",")
    tokens.take()


def _sequence(tokens: _Tokens) -> Value:
    return tuple(_items(tokens, ">>"))


def _set(tokens: _Tokens) -> Value:
    return frozenset(_items(tokens, "}"))


def _record(tokens: _Tokens) -> Value:
    fields: dict[Value, Value] = {}
    while tokens.word != "]":
        name = tokens.take()
        tokens.expect("|->")
        fields[name] = _value(tokens)
        if tokens.word != "]":
            tokens.expect(",")
    tokens.take()
    return Map(fields)


def _function(tokens: _Tokens) -> Value:
    pairs: dict[Value, Value] = {}
    while tokens.word != ")":
        argument = _value(tokens)
        tokens.expect(":>")
        pairs[argument] = _value(tokens)
        if tokens.word != ")":
            tokens.expect("@@")
    tokens.take()
    return Map(pairs)
