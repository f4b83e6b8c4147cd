"""Where a history's files are: files in JSON lines, or a table in Parquet with its header."""

import json
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import attrs

from busproof.errors import HistoryError, UsageError
from busproof.history.codec import check_protocol, structure_union
from busproof.history.lines import decode_line
from busproof.history.records import Header, Record

__all__ = [
    "HEADER_NAME",
    "Source",
    "find_source",
    "header_of",
    "header_of_table",
    "name_of",
    "one_header",
    "write_header",
]

HEADER_NAME: Final = "_header.json"
"""Beside the Parquet files of a table: the header record of its histories."""

_RUN: Final = "history.jsonl"


@attrs.frozen
class Source:
    """Files to read.

    Attributes:
        paths: the files, or the folder of a table.
        is_table: whether they are Parquet in the published schema.
    """

    paths: tuple[str, ...]
    is_table: bool

    @property
    def size(self) -> int:
        """Bytes of the files that are on this machine; 0 of others."""
        return sum(Path(path).stat().st_size for path in self.paths if Path(path).is_file())


def find_source(place: str) -> Source:
    """The files that are meant by a file, a folder, or an address that Spark can read.

    Raises:
        UsageError: there is nothing of the kind.
        HistoryError: the folder cannot be read.
    """
    if "://" in place:
        return Source((place,), is_table=not place.endswith((".jsonl", ".jsonl.gz")))
    path = Path(place)
    try:
        if path.is_dir():
            return _whole(_of_folder(path))
        path.stat()
    except FileNotFoundError:
        raise UsageError(
            f"there is no file {path}; name a history file, a folder of them, or a table"
        ) from None
    except OSError as error:
        raise HistoryError(f"cannot read {path}: {error.strerror}") from None
    if path.suffix == ".parquet":
        raise UsageError(
            f"{path} is one file of a table; name its folder, which has {HEADER_NAME} beside it"
        )
    return _whole(Source((str(path),), is_table=False))


def _whole(found: Source) -> Source:
    """With whole paths: a Spark that was there before has a current folder of its own."""
    paths = tuple(str(Path(path).absolute()) for path in found.paths)
    return Source(paths, is_table=found.is_table)


def _of_folder(folder: Path) -> Source:
    if (folder / _RUN).is_file():
        return Source((str(folder / _RUN),), is_table=False)
    list(folder.iterdir())  # what may not be read is told, where a search would pass it over
    if (folder / HEADER_NAME).is_file():
        return Source((str(folder),), is_table=True)
    found = sorted(
        str(path)
        for path in folder.rglob("*.jsonl")
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    )
    if found:
        return Source(tuple(found), is_table=False)
    if any(folder.glob("*.parquet")):
        raise UsageError(
            f"{folder} has Parquet files and no {HEADER_NAME}, which says what the histories were "
            "held to: write the header record of a history file into it"
        )
    raise UsageError(f"{folder} has no history files (*.jsonl), and no table with {HEADER_NAME}")


def name_of(address: str) -> str:
    """The name of a file by the address that Spark gives it, in which a space is `%20`."""
    return Path(unquote(address)).name


def header_of(text: str, where: str) -> Header:
    """The header that a line is; raises `HistoryError` where it is none."""
    try:
        value = decode_line(text.encode("utf-8", "replace"))
        if value.get("record") == "header":
            check_protocol(value.get("protocol"))
        header = structure_union(value, Record, "the record")
    except HistoryError as error:
        raise HistoryError(f"{where}: {error}") from None
    if not isinstance(header, Header):
        raise HistoryError(f'{where}: a history must begin with a header, {{"record":"header",…}}')
    return header


def header_of_table(folder: str) -> Header:
    """The header of a table that is on this machine."""
    file = Path(folder) / HEADER_NAME
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HistoryError(f"cannot read {file}: {error}") from None
    return header_of(" ".join(text.split("\n")), str(file))


def one_header(headers: list[tuple[str, Header]]) -> Header:
    """The terms that all files share.

    Raises:
        UsageError: two of them were held to different terms, or tell of different things.
    """
    (first_file, first), *others = headers
    for file, other in others:
        if _terms(other) != _terms(first):
            raise UsageError(
                f"{first_file} and {file} are of different implementations or terms; "
                "check them one at a time"
            )
    planned = [header.planned for _, header in headers]
    whole = None if None in planned else sum(each or 0 for each in planned)
    return attrs.evolve(first, planned=whole)


def _terms(header: Header) -> Header:
    return attrs.evolve(header, planned=None, seed=None, busproof="")


def write_header(folder: Path, header: dict[str, object]) -> None:
    """Put a header into a table's folder."""
    (folder / HEADER_NAME).write_text(json.dumps(header) + "\n", encoding="utf-8")
