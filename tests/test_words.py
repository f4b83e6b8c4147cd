"""Plain words: `tests/words.yaml` lists what docstrings, comments, messages and names avoid."""

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parent.parent
WORDS = yaml.safe_load((ROOT / "tests/words.yaml").read_text())
ROOMS: list[str] = WORDS["rooms"]

RULE_IDS = re.compile(r"^(?:[A-Z][A-Z-]+(?:-\d+)?(?:, | to |; )?)+: ")
"""The ids of rules that open a docstring, up to their colon."""

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
DOCUMENTED = (ast.Module, *DEFINITIONS)
LOOKED_AT = (*DOCUMENTED, ast.Constant, ast.arg, ast.Name, ast.MatchAs, ast.MatchStar)


class Text(NamedTuple):
    """Prose in a file: a docstring, a comment or a message."""

    place: str
    text: str


class Opening(NamedTuple):
    """The first words of a docstring after its rule ids."""

    place: str
    text: str
    of_property: bool


def files_of(room: str) -> list[Path]:
    """Return the Python files of a room."""
    return sorted(path for path in (ROOT / room).rglob("*.py") if "node_modules" not in path.parts)


@cache
def nodes(source: str) -> list[ast.AST]:
    """Return the nodes of a file that may be looked at: it is parsed and walked once."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, LOOKED_AT)]


def openings(source: str, place: str) -> Iterator[Opening]:
    """Yield the opening of each docstring; a variable has none to check."""
    for node in nodes(source):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            line = node.body[0].lineno
            decorators = [] if isinstance(node, ast.Module) else node.decorator_list
            of_property = any("property" in ast.dump(one) for one in decorators)
            yield Opening(f"{place}:{line}", RULE_IDS.sub("", text), of_property)


@cache
def prose(source: str, place: str) -> list[Text]:
    """Return docstrings, comments and messages: strings of at least three words."""
    return [*literals(source, place), *comments(source, place)]


def literals(source: str, place: str) -> Iterator[Text]:
    """Yield strings of at least three words."""
    for node in nodes(source):
        match node:
            case ast.Constant(value=str(text)) if len(text.split()) >= 3:
                yield Text(f"{place}:{node.lineno}", " ".join(text.split()))


def comments(source: str, place: str) -> Iterator[Text]:
    """Yield comments."""
    for token in tokenize.generate_tokens(iter(source.splitlines(keepends=True)).__next__):
        if token.type == tokenize.COMMENT:
            yield Text(f"{place}:{token.start[0]}", token.string)


def names(source: str, place: str) -> Iterator[Text]:
    """Yield the names that a file defines: of functions, classes, parameters and variables."""
    for node in nodes(source):
        if isinstance(node, DEFINITIONS):
            yield Text(f"{place}:{node.lineno}", node.name)
    yield from bound(source, place)


def bound(source: str, place: str) -> Iterator[Text]:
    """Yield the names of parameters and variables."""
    for node in nodes(source):
        if isinstance(node, ast.arg):
            yield Text(f"{place}:{node.lineno}", node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Text(f"{place}:{node.lineno}", node.id)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield Text(f"{place}:{node.lineno}", node.name)


def words_of(name: str) -> list[str]:
    """Return the words of a name, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def bad_openings(source: str, place: str) -> list[str]:
    """Return the docstrings that open with a clause or in the third person."""
    clauses = {*WORDS["clause_openings"], *WORDS["third_person"]}
    found = []
    for opening in openings(source, place):
        first = re.split(r"[\s,;:]", opening.text, maxsplit=1)[0].lower()
        only_property = first in WORDS["opens_properties"] and not opening.of_property
        if first in clauses or only_property:
            found.append(f"{opening.place}: {opening.text[:60]!r}")
    return found


def worn_phrases(source: str, place: str) -> list[str]:
    """Return the worn phrases of a file's prose, with what to write."""
    return [
        f"{text.place}: {match[0]!r}; write {advice}"
        for text in prose(source, place)
        for pattern, advice in WORDS["worn"].items()
        for match in [re.search(pattern, text.text, re.IGNORECASE)]
        if match
    ]


def private_words(source: str, place: str) -> list[str]:
    """Return the private words of a file's names and prose, with the field's words."""
    private = WORDS["private"]
    return [
        f"{text.place}: {word!r}; write {private[word]}"
        for text in [*names(source, place), *prose(source, place)]
        if text.text not in WORDS["kept_names"]
        for word in words_of(text.text)
        if word in private
    ]


def vague_names(source: str, place: str) -> list[str]:
    """Return the names of variables and parameters that could stand for anything."""
    vague = {*WORDS["vague"]} - {WORDS["kept_fields"].get(place.partition(":")[0])}
    return [
        f"{name.place}: {name.text!r}; write what it holds"
        for name in bound(source, place)
        if name.text in vague
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_open_with_an_imperative_or_a_noun_phrase(room: str) -> None:
    """A reader sees first what a function does, or what a value is."""
    assert [] == [
        bad
        for path in files_of(room)
        for bad in bad_openings(path.read_text(), str(path.relative_to(ROOT)))
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_prose_has_no_worn_phrase(room: str) -> None:
    """Docstrings, comments and messages are plain English."""
    assert [] == [
        bad
        for path in files_of(room)
        for bad in worn_phrases(path.read_text(), str(path.relative_to(ROOT)))
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_private_words_occur_neither_in_names_nor_in_prose(room: str) -> None:
    """A reader who knows the field needs no dictionary of ours."""
    assert [] == [
        bad
        for path in files_of(room)
        for bad in private_words(path.read_text(), str(path.relative_to(ROOT)))
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_variables_say_what_they_hold(room: str) -> None:
    """A `message`, a `queue` or a `candidate` needs no look at where it comes from."""
    assert [] == [
        bad
        for path in files_of(room)
        for bad in vague_names(path.read_text(), str(path.relative_to(ROOT)))
    ]


def test_tell_is_rare() -> None:
    """It once stood for every verb; at most 0.3 in 1,000 words are left."""
    count, places = 0, []
    for path in [path for room in ROOMS for path in files_of(room)]:
        for text in prose(path.read_text(), str(path.relative_to(ROOT))):
            words = re.findall(r"[a-z]+", text.text.lower())
            count += len(words)
            places += [text.place] * sum(word in {"tell", "tells", "told"} for word in words)
    assert len(places) * 1000 <= WORDS["most_tell_or_told"] * count, places


@pytest.mark.parametrize(
    "text",
    [
        "What a bus does.",
        "KEY-01: whether a key is empty.",
        "Makes a lock.",
        "DLQ-01 to DLQ-03: what is kept.",
    ],
)
def test_openings_of_another_kind_are_noticed(text: str) -> None:
    """A clause and a third person are noticed, also after the ids of rules."""
    assert bad_openings(f'def f():\n    """{text}"""\n', "here") == [
        f"here:2: {RULE_IDS.sub('', text)!r}"
    ]


def test_whether_may_open_the_docstring_of_a_property() -> None:
    """As the documentation of an attribute does."""
    source = 'class C:\n    @property\n    def f(self):\n        """Whether it is so."""\n'
    assert bad_openings(source, "here") == []


def test_worn_phrases_are_noticed_in_docstrings_comments_and_messages() -> None:
    """Each with what to write in its place."""
    source = '"""A queue of which none is left."""\n# Whoever asks.\nf("is no queue")\n'
    assert [line.split(";")[0] for line in worn_phrases(source, "here")] == [
        "here:1: 'of which'",
        "here:3: 'is no q'",
        "here:2: 'Whoever'",
    ]


def test_private_words_are_noticed_in_names_and_prose() -> None:
    """A function, a class and a comment."""
    source = "def graves_of(): ...\nclass GraveKeeper: ...\n# haunted names\n"
    assert [line.split(";")[0] for line in private_words(source, "here")] == [
        "here:1: 'graves'",
        "here:2: 'grave'",
        "here:3: 'haunted'",
    ]


def test_vague_names_are_noticed_in_parameters_loops_and_patterns() -> None:
    """Wherever a name is bound; an attribute of another object is not."""
    source = (
        "def found(told): ...\n"
        "x = [each for each in y]\n"
        "match x:\n    case {'a': found}: z.held = found\n"
    )
    assert [line.split(";")[0] for line in sorted(vague_names(source, "here"))] == [
        "here:1: 'told'",
        "here:2: 'each'",
        "here:4: 'found'",
    ]
