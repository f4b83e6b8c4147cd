"""Find the files of a history: JSON lines, or a Parquet or Delta table with its header."""

import errno
import json
import os
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
"""File with the header record, in the folder of a Parquet table."""

PARQUET: Final = "parquet"
DELTA: Final = "delta"
_DELTA_LOG: Final = "_delta_log"
_RUN: Final = "history.jsonl"


@attrs.frozen
class Source:
    """Files to read.

    Attributes:
        paths: the files, or the folder of a table, or some of its files.
        is_table: whether it is a table in the published schema.
        table: the folder of the table, if `paths` are files in it.
        form: the format of the table, as Spark calls it.
        histories: the ids of the histories to read from a table; `None` for all.
    """

    paths: tuple[str, ...]
    is_table: bool
    table: str = ""
    form: str = PARQUET
    histories: frozenset[int] | None = None

    @property
    def size(self) -> int:
        """Total bytes of the local files; remote ones count as 0."""
        return sum(Path(path).stat().st_size for path in self.paths if Path(path).is_file())


def find_source(place: str) -> Source:
    """Return the files at a path, which may be a file, a folder or an address that Spark can read.

    Raises:
        UsageError: there is no history at the path.
        HistoryError: the folder cannot be read.
    """
    if "://" in place:
        return Source((place,), is_table=not place.endswith((".jsonl", ".jsonl.gz")))
    path = Path(place)
    try:
        if path.is_dir():
            return _whole(_find_in_folder(path))
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


def _whole(source: Source) -> Source:
    """Return the source with absolute paths.

    A Spark that was already running may have another working directory.

    Raises:
        HistoryError: a file may not be read.
    """
    paths = tuple(str(Path(path).absolute()) for path in source.paths)
    for path in paths:
        if not os.access(path, os.R_OK):  # Spark would say that the file does not exist
            raise HistoryError(f"cannot read {path}: {os.strerror(errno.EACCES)}")
    return attrs.evolve(source, paths=paths)


def _find_in_folder(folder: Path) -> Source:
    if (folder / _RUN).is_file():
        return Source((str(folder / _RUN),), is_table=False)
    list(folder.iterdir())  # raises if unreadable; `rglob` would skip the folder
    if (folder / HEADER_NAME).is_file():
        form = DELTA if (folder / _DELTA_LOG).is_dir() else PARQUET
        return Source((str(folder),), is_table=True, form=form)
    paths = sorted(
        str(path)
        for path in folder.rglob("*.jsonl")
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    )
    if paths:
        return Source(tuple(paths), is_table=False)
    if any(folder.rglob("*.parquet")):
        raise UsageError(
            f"{folder} has Parquet files and no {HEADER_NAME}, which says what the histories were "
            "held to: write the header record of a history file into it"
        )
    raise UsageError(f"{folder} has no history files (*.jsonl), and no table with {HEADER_NAME}")


def name_of(address: str) -> str:
    """Return the name of a file from Spark's address, which encodes a space as `%20`."""
    return Path(unquote(address)).name


def header_of(text: str, where: str) -> Header:
    """Return the header in a line.

    Raises:
        HistoryError: the line is not a header.
    """
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
    """Return the header of a local table."""
    file = Path(folder) / HEADER_NAME
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HistoryError(f"cannot read {file}: {error}") from None
    return header_of(" ".join(text.split("\n")), str(file))


def one_header(headers: list[tuple[str, Header]]) -> Header:
    """Return the header that all files share.

    Raises:
        UsageError: two files have different terms or implementations.
    """
    (first_file, first), *others = headers
    for file, other in others:
        if _terms(other) != _terms(first):
            raise UsageError(
                f"{first_file} and {file} are of different implementations or terms; "
                "check them one at a time"
            )
    planned = [header.planned for _, header in headers]
    whole = None if None in planned else sum(count or 0 for count in planned)
    return attrs.evolve(first, planned=whole)


def _terms(header: Header) -> Header:
    return attrs.evolve(header, planned=None, seed=None, busproof="")


def write_header(folder: Path, header: dict[str, object]) -> None:
    """Write a header to a table's folder."""
    (folder / HEADER_NAME).write_text(json.dumps(header) + "\n", encoding="utf-8")
