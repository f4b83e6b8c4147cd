"""The report "what breaks when you move": lines for a terminal, JSON, and a page."""

import json
import os
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

from busproof.errors import HistoryError
from busproof.history.moves import BREAKS, EASED, MAY_BREAK, Break, Move, view_move
from busproof.history.render.commands import command_words
from busproof.history.render.outcomes import outcome_words
from busproof.spec import Catalogue

__all__ = ["JSON_NAME", "PAGE_NAME", "break_lines", "move_lines", "write_move"]

JSON_NAME: Final = "moving.json"
PAGE_NAME: Final = "moving.html"
HEADINGS: Final = {
    BREAKS: "Breaks",
    MAY_BREAK: "May break, as the target chooses",
    EASED: "Accepted there, and refused here",
}
COLOURS: Final = {BREAKS: "#b3261e", MAY_BREAK: "#b26a00", EASED: "#2f855a"}
WIDTH: Final = 360
"""Width of the longest bar of the picture, in pixels."""
STYLE: Final = """\
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #1a202c; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } h3 { font-size: 1rem; }
dl { display: grid; grid-template-columns: 8rem 1fr; gap: .2rem 1rem; } dt { color: #4a5568; }
dd { margin: 0; overflow-wrap: anywhere; } svg { max-width: 100%; height: auto; }
code { background: #edf2f7; padding: 0 .2rem; }
"""


def break_lines(each: Break, catalogue: Catalogue) -> Iterator[str]:
    """Yield one kind of request as text: what differs, why, how often, and the first of them."""
    first = each.first
    yield f"{each.verdict}: {each.what}"
    for rule in each.rules[:1]:
        yield f"  there  {rule}: {catalogue.rule(rule).title}"
    for rule in each.before[:1]:
        yield f"  here   {rule}: {catalogue.rule(rule).title}"
    yield f"  seen   {_times(each.seen)}, on {_names(each.entities)}, by {_names(each.clients)}"
    place = f" in {first.where!r}" if first.where else ""
    moment = f" at {first.at}" if first.at else ""
    yield f"  first  {first.client}{moment}{place}: {command_words(first.command)}"
    yield f"         here:  {outcome_words(first.here)}"
    yield f"         there: {outcome_words(first.there)}"


def move_lines(move: Move, catalogue: Catalogue) -> Iterator[str]:
    """Yield the whole report as text."""
    yield f"From {move.source} to {move.target}: {move.compared:,} requests compared"
    for verdict, heading in HEADINGS.items():
        kinds = move.of(verdict)
        if kinds:
            yield ""
            yield f"{heading}: {_kinds(len(kinds))}"
        for each in kinds:
            yield from break_lines(each, catalogue)
    yield ""
    for reason, number in move.apart.items():
        yield f"Not compared: {_requests(number)}, because {reason}"
    yield conclusion(move)


def conclusion(move: Move) -> str:
    """Return the sentence that explains the exit code."""
    numbers = f"{_kinds(len(move.of(BREAKS)))} of request"
    match move.exit_code:
        case 0:
            return "Exit code 0: nothing that was seen breaks."
        case 1:
            return f"Exit code 1: {numbers} will break."
    if not move.compared:
        return "Exit code 3: no request could be compared."
    return "Exit code 3: nothing surely breaks, but something may, or was not compared."


def write_move(move: Move, folder: str | os.PathLike[str], catalogue: Catalogue) -> None:
    """Write the report as JSON and as a page.

    Raises:
        HistoryError: a file cannot be written.
    """
    texts = {
        JSON_NAME: json.dumps(view_move(move), indent=2) + "\n",
        PAGE_NAME: move_page(move, catalogue),
    }
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise HistoryError(
            f"cannot write the report in {folder}: {error.strerror or error}"
        ) from None


def move_page(move: Move, catalogue: Catalogue) -> str:
    """Return the report as a page that needs nothing else."""
    title = f"What breaks from {move.source} to {move.target}"
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}</style></head><body><main>",
        f"<h1>{escape(title)}</h1>",
        f"<p>{move.compared:,} requests were compared. {escape(conclusion(move))}</p>",
        *_picture(move),
    ]
    for verdict, heading in HEADINGS.items():
        kinds = move.of(verdict)
        parts += [f"<h2>{escape(heading)}: {_kinds(len(kinds))}</h2>"] if kinds else []
        for each in kinds:
            parts += _section(each, catalogue)
    if move.apart:
        reasons = (f"<li>{_requests(n)}: {escape(why)}</li>" for why, n in move.apart.items())
        parts += ["<h2>Not compared</h2>", "<ul>", *reasons, "</ul>"]
    return "\n".join([*parts, "</main></body></html>", ""])


def _picture(move: Move) -> Iterator[str]:
    """Yield bars of how often each kind was seen, in the colour of its verdict."""
    kinds = [each for verdict in HEADINGS for each in move.of(verdict)]
    if not kinds:
        return
    most = max(each.seen for each in kinds)
    height = 28 * len(kinds)
    described = "; ".join(f"{each.what}: {_times(each.seen)}" for each in kinds)
    yield f'<svg viewBox="0 0 880 {height}" width="880" height="{height}" role="img">'
    yield f"<title>How often each kind was seen</title><desc>{escape(described)}</desc>"
    for place, each in enumerate(kinds):
        top, width = 28 * place, max(WIDTH * each.seen // most, 2)
        yield (
            f'<rect x="0" y="{top + 4}" width="{width}" height="18" rx="2" '
            f'fill="{COLOURS[each.verdict]}"/>'
            f'<text x="{width + 8}" y="{top + 18}" font-size="14" font-family="sans-serif">'
            f"{each.seen:,} {escape(each.what)}</text>"
        )
    yield "</svg>"


def _section(each: Break, catalogue: Catalogue) -> Iterator[str]:
    first = each.first
    place = ", ".join(filter(None, (first.client, first.at, first.where)))
    rows = [
        ("there", _rules(each.rules, catalogue)),
        ("here", _rules(each.before, catalogue)),
        ("seen", escape(_times(each.seen))),
        ("entities", escape(_names(each.entities))),
        ("clients", escape(_names(each.clients))),
        ("first", escape(place)),
        ("request", f"<code>{escape(command_words(first.command))}</code>"),
        ("answer here", f"<code>{escape(outcome_words(first.here))}</code>"),
        ("answer there", f"<code>{escape(outcome_words(first.there))}</code>"),
    ]
    yield f"<h3>{escape(each.what)}</h3>"
    yield "<dl>"
    yield from (f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows if value)
    yield "</dl>"


def _rules(rules: Iterable[str], catalogue: Catalogue) -> str:
    return "<br>".join(f"{rule}: {escape(catalogue.rule(rule).statement)}" for rule in rules)


def _names(counted: dict[str, int], most: int = 5) -> str:
    """Return the first names, and how many more there are."""
    shown = list(counted)[:most]
    more = len(counted) - len(shown)
    return (", ".join(shown) or "no entity") + (f" and {more} more" if more else "")


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _kinds(number: int) -> str:
    return "1 kind" if number == 1 else f"{number:,} kinds"


def _requests(number: int) -> str:
    return "1 request" if number == 1 else f"{number:,} requests"
