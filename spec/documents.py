"""Verification of the catalogue against the documents it cites, for those who have them."""

import hashlib
import re
from pathlib import Path

from busproof.errors import UsageError
from busproof.spec.catalogue import Catalogue
from busproof.spec.values import Edition

__all__ = ["verify_documents"]

_LONGEST_HEADING = 200


def verify_documents(catalogue: Catalogue, folder: Path) -> list[str]:
    """Return errors in the editions' hashes or anchors, compared with the documents in `folder`.

    A document is identified by its SHA-256, not its file's name; one that a commit names is where
    its snapshot is, and not looked for. An empty list means that all are
    there and have exactly the sections that the catalogue lists, in its order.

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
            findings += _compared(edition, document)
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


def _compared(edition: Edition, document: str) -> list[str]:
    headings = _named(document) if edition.anchored_by == "name" else _headed(edition, document)
    missing = [anchor for anchor in edition.anchors if anchor not in headings]
    unlisted = [anchor for anchor in headings if anchor not in edition.anchors]
    findings = [f"{edition.id}: the document has no section {anchor!r}" for anchor in missing]
    findings += [f"{edition.id}: the section {anchor!r} is not listed" for anchor in unlisted]
    if not findings and headings != list(edition.anchors):
        findings.append(f"{edition.id}: the sections stand in another order than listed")
    return findings


def _named(document: str) -> list[str]:
    return re.findall(r'<a name="([^"]+)"', document)


def _headed(edition: Edition, document: str) -> list[str]:
    """Return the listed anchors that end heading lines.

    A heading line contains both languages, and one heading may end with another's words, so the
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
