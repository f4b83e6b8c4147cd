"""The page of all sentences that scenarios may use, for `tools/site_pages.py`."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from pytest_bdd.steps import step_function_context_registry

from busproof.steps import STEP_MODULES
from busproof.steps.sentences import WORDS

SENTENCE: Final = re.compile(r"pytestbdd_stepdef_(?P<keyword>given|when|then|\*)_(?P<text>.+)")
"""Name of the fixture that pytest-bdd makes of a step; a star stands for a step of any kind."""
WORD: Final = re.compile(r"\{\w*:(?P<word>[A-Z]\w*)(?P<optional>\??)\}")
"""A word or part of a sentence that `busproof.steps.sentences` defines."""
NUMBER: Final = re.compile(r"\{(\w+):d\}")
TOKEN: Final = re.compile(
    r"\(\?P<(?P<group>\w+)>|(?P<open>\(\?:|\()|\)(?P<optional>\?)?|\||(?P<digits>\\d\+)"
    r"|(?P<any>(?:\[\^[^\]]*\]|\\\S|\.)[+*]\??)|an\?|s\?|\\(?P<escaped>.)|(?P<plain>.)"
)
"""A part of a regular expression, as the steps have them."""


def sentences() -> Iterator[str]:
    """Yield the page of all sentences that scenarios may use, by subject."""
    yield (
        "# Sentences of scenarios\n\n"
        "What a *Given*, a *When* or a *Then* of [your own feature](../how-to/write-a-feature.md) "
        "may say. Braces stand for a number, a text or one of several words; what is in brackets "
        "may be left out.\n"
    )
    for name in STEP_MODULES:
        module = import_module(name)
        yield f"\n## {name.rpartition('.')[2].replace('_', ' ').capitalize()}\n\n"
        yield f"{module.__doc__}\n\n| sentence | what it does |\n| --- | --- |\n"
        for fixture, definition in vars(module).items():
            found = SENTENCE.fullmatch(fixture)
            if found is not None:
                step = step_function_context_registry[definition._get_wrapped_function()]
                about = str(step.step_func.__doc__).partition("\n")[0]
                keyword = "" if found["keyword"] == "*" else f"{found['keyword'].capitalize()} "
                yield f"| {keyword}`{readable(found['text'])}` | {about} |\n"


def readable(pattern: str) -> str:
    """Return a sentence with braces for what varies, and brackets for what may be left out."""
    if WORD.search(pattern) or "(" not in pattern:
        return NUMBER.sub(r"{\1}", WORD.sub(_word, pattern)).replace("an? ", "a ")
    (text,), _ = _alternatives(list(TOKEN.finditer(pattern)), 0)
    return text.replace("{}", "…")


def _word(found: re.Match[str]) -> str:
    """Return how a word is listed, in brackets if it may be left out."""
    listed = WORDS[found["word"]].listed
    if not found["optional"] or listed.startswith("["):
        return listed
    return f"[{listed}]"


def _alternatives(tokens: list[re.Match[str]], start: int) -> tuple[list[str], int]:
    """Return what a group may say up to its end, and the place of that end."""
    choices, place = [""], start
    while place < len(tokens) and not tokens[place][0].startswith(")"):
        token = tokens[place]
        if token["group"] or token["open"]:
            inner, place = _alternatives(tokens, place + 1)
            choices[-1] += _group(
                token["group"], inner, is_optional=bool(tokens[place]["optional"])
            )
        elif token[0] == "|":
            choices.append("")
        else:
            choices[-1] += _said(token)
        place += 1
    return choices, place


def _said(token: re.Match[str]) -> str:
    """Return what a part of a regular expression stands for; empty braces are any text."""
    if token["digits"]:
        return "{number}"
    if token["any"]:
        return "{}"
    if token[0] == "an?":
        return "a"
    return token["escaped"] or token["plain"] or token[0].removesuffix("?")


def _group(name: str | None, choices: list[str], *, is_optional: bool) -> str:
    """Return what a group says: its words, or its name if it is any text."""
    if len(choices) > 1 and name != "names":
        words = " or ".join(choices)
        return f"[{words}]" if is_optional else f"{{{words}}}"
    words = choices[0]
    if name and ("{}" in words or words == "{number}"):
        words = f"{{{name}}}"
    return f"[{words}]" if is_optional else words
