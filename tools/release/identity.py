"""Put the publisher's identity into every file: `make identity`, after editing identity.toml.

Each placeholder of the repository stands in identity.toml. A name that means other things, too,
such as `busproof`, is replaced only where it names the package on the index.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FILE: Final = Path("tools", "release", "identity.toml")

PACKAGE: Final = (
    r"(?<![\w./-])NAME(?=\\?\[[\w{{$(])",  # an extra: NAME[amqp], also in a pattern
    r"(?<=pip install )NAME(?![\w./\[-])",
    r"(?<=\.requires\(\")NAME(?=\")",
    r"(?<=\.files\(\")NAME(?=\")",
    r"(?<=^name = \")NAME(?=\"$)",
    r"(?<=dependencies = \[\")NAME(?=\"\])",
    r"(?<=requirement\.name == \")NAME(?=\")",
    r"(?<=wanted\(\")NAME(?=\")",
    r"(?<=- {{\")NAME(?=\"}})",
    r"(?<=f\")NAME(?=-{{busproof\.__version__}}\.dist-info)",
)
"""Where NAME is the package on the index."""

UNPUBLISHED: Final = (
    r"^Until busproof is on PyPI, .*\n\n",
    r"^busproof is not on PyPI yet\.\nUntil it is, .*\n\n",
    r", or `pip install '\.\[report\]'` in a clone until busproof is on PyPI",
    r"^\| `pip install \S+` finds nothing \| it is not on PyPI yet .*\n",
    r"^## What is on PyPI\?\n\n(?:.*\n)+?(?=## )",
)
"""What documents say as long as the package is not on the index."""

Identity = dict[str, str | bool]


def read(text: str) -> tuple[Identity, Identity]:
    """Return the identity that the files have, and the one that they get.

    Raises:
        ValueError: the two do not have the same names, or a package is published no more.
    """
    tables = tomllib.loads(text)
    now = tables["now"]
    becomes = tables["becomes"]
    if now.keys() != becomes.keys():
        raise ValueError(f"{FILE}: [now] and [becomes] differ in {now.keys() ^ becomes.keys()}")
    if now["published"] and not becomes["published"]:
        raise ValueError(f"{FILE}: the remarks on a package that is not published are gone")
    return now, becomes


def renamed(text: str, now: Identity, becomes: Identity) -> str:
    """Return the text of a file with the new identity."""
    if becomes["published"]:
        for pattern in UNPUBLISHED:
            text = re.sub(pattern, "", text, flags=re.MULTILINE)
    # The address of the documents may have the repository's name in it.
    for key in ("documentation", "repository", "authors"):
        text = text.replace(str(now[key]), str(becomes[key]))
    for pattern in PACKAGE:
        place = pattern.replace("{{", "{").replace("}}", "}")
        place = place.replace("NAME", re.escape(str(now["package"])))
        text = re.sub(place, str(becomes["package"]), text, flags=re.MULTILINE)
    return text


def files(root: Path) -> Iterator[Path]:
    """Yield the files in git that have text, but for the identity and the past in the changelog."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - the developer's git
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        path = root / name
        if path.is_file() and not path.is_symlink() and not _is_ours(name):
            yield path


def _is_ours(name: str) -> bool:
    return name in (FILE.as_posix(), "CHANGELOG.md", "tools/release/identity.py")


def rename(root: Path) -> int:
    """Rename everything in a checkout; return the number of changed files.

    Raises:
        ValueError: identity.toml cannot be used.
    """
    identity = (root / FILE).read_text(encoding="utf-8")
    now, becomes = read(identity)
    changed = 0
    for path in files(root):
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        new = renamed(text, now, becomes)
        if new != text:
            path.write_bytes(new.encode("utf-8"))
            changed += 1
    head, _, rest = identity.partition("[now]\n")
    table, _, target = rest.partition("[becomes]\n")
    for key, value in becomes.items():
        written = str(value).lower() if isinstance(value, bool) else f'"{value}"'
        table = re.sub(
            rf'^{key} = (?:"[^"]*"|\w+)', f"{key} = {written}", table, flags=re.MULTILINE
        )
    (root / FILE).write_text(f"{head}[now]\n{table}[becomes]\n{target}", encoding="utf-8")
    return changed


if __name__ == "__main__":
    try:
        print(f"{rename(ROOT)} files have the identity of {FILE}")
    except ValueError as error:
        sys.exit(f"tools/release/identity.py: {error}")
