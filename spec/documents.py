"""Comparison of the catalogue with the documents that it cites, for users who have them."""

import hashlib
import re
from pathlib import Path

from busproof.errors import UsageError
from busproof.spec.catalogue import Catalogue
from busproof.spec.values import Edition

__all__ = ["verify_documents"]

_LONGEST_HEADING = 200


def verify_documents(catalogue: Catalogue, folder: Path) -> list[str]:
    """Return errors in the editions' hashes or anchors, found by comparison with the documents.

    A document in `folder` is identified by its SHA-256 and not by its name. An edition that a
    commit identifies is not looked for, because its snapshot is public. An empty list means that
    all documents are there, and have exactly the sections that the catalogue lists, in its order.

    Raises:
        UsageError: the folder cannot be read.
    """
    documents = _by_hash(folder)
    findings: list[str] = []
    for edition in catalogue.editions:
        if edition.sha256 is None:
            continue
        document = documents.get(edition.sha256)
        if document is None:
            findings.append(
                f"{edition.id}: no file in {folder} has the SHA-256 {edition.sha256[:16]}..."
            )
        else:
            findings += _compare(edition, document)
    return findings


def _by_hash(folder: Path) -> dict[str, str]:
    try:
        contents = [path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()]
    except OSError as error:
        raise UsageError(
            f"Cannot read the documents in {str(folder)!r}: {error.strerror}; "
            "name a folder that holds the original files."
        ) from error
    return {
        hashlib.sha256(content).hexdigest(): content.decode("utf-8", errors="replace")
        for content in contents
    }


def _compare(edition: Edition, document: str) -> list[str]:
    headings = (
        _anchors_named(document)
        if edition.anchored_by == "name"
        else _anchors_of_headings(edition, document)
    )
    missing = [anchor for anchor in edition.anchors if anchor not in headings]
    unlisted = [anchor for anchor in headings if anchor not in edition.anchors]
    findings = [f"{edition.id}: the document has no section {anchor!r}" for anchor in missing]
    findings += [f"{edition.id}: the section {anchor!r} is not listed" for anchor in unlisted]
    if not findings and headings != list(edition.anchors):
        findings.append(f"{edition.id}: the sections stand in another order than listed")
    return findings


def _anchors_named(document: str) -> list[str]:
    return re.findall(r'<a name="([^"]+)"', document)


def _anchors_of_headings(edition: Edition, document: str) -> list[str]:
    """Return those of the edition's anchors that occur at the end of a heading line.

    A heading line has both languages, and one heading may end with the words of another, so the
    longest anchor counts.
    """
    headings = []
    for line in document.splitlines():
        slug = _slug(line)
        ends = [anchor for anchor in edition.anchors if slug.endswith(anchor)]
        if ends and _may_be_heading(line):
            headings.append(max(ends, key=len))
    return headings


def _may_be_heading(line: str) -> bool:
    return len(line) <= _LONGEST_HEADING and line.rstrip()[-1:].isalnum()


def _slug(heading: str) -> str:
    kept = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"\s+", "-", kept)
