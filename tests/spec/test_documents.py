"""The originals are held against the catalogue by hash and by section."""

import hashlib
from pathlib import Path

import attrs
import pytest

from busproof.errors import UsageError
from busproof.spec import Catalogue, Edition, verify_documents

NAMED = '# <a name="how-it-works"></a>Ablauf\n\nText.\n\n## <a name="next-steps"></a>Weiter\n'
HEADED = (
    "Como funcionaHow it works\n\n"
    "Uma frase.A sentence that speaks of how it works.\n\n"
    "Utilizar: uma chaveUsing a key\n\n"
    "Sem chaveNot using a key\n"
)


@pytest.fixture
def edition(catalogue: Catalogue) -> Edition:
    return attrs.evolve(catalogue.edition("de-2021-04"), anchors=("how-it-works", "next-steps"))


def verify(catalogue: Catalogue, edition: Edition, document: str, folder: Path) -> list[str]:
    """Findings for a catalogue of this one edition, whose document is in the folder."""
    (folder / "document.txt").write_bytes(document.encode())
    digest = hashlib.sha256(document.encode()).hexdigest()
    editions = (attrs.evolve(edition, sha256=digest),)
    return verify_documents(attrs.evolve(catalogue, editions=editions), folder)


def test_a_document_with_the_listed_sections_is_in_order(catalogue, edition, tmp_path) -> None:
    assert verify(catalogue, edition, NAMED, tmp_path) == []


def test_a_missing_document_is_found(catalogue: Catalogue, tmp_path: Path) -> None:
    findings = verify_documents(catalogue, tmp_path)

    assert len(findings) == 5
    assert findings[4].startswith("de-2021-04: no file in ")


def test_a_document_that_a_commit_names_is_not_looked_for(catalogue, tmp_path) -> None:
    english = attrs.evolve(catalogue, editions=(catalogue.edition("en-2026-02"),))

    assert verify_documents(english, tmp_path) == []


def test_a_document_that_was_changed_is_missing(catalogue, edition, tmp_path) -> None:
    (tmp_path / "document.txt").write_text(NAMED + " ", encoding="utf-8")
    digest = hashlib.sha256(NAMED.encode()).hexdigest()
    changed = attrs.evolve(catalogue, editions=(attrs.evolve(edition, sha256=digest),))

    assert len(verify_documents(changed, tmp_path)) == 1


@pytest.mark.parametrize(
    ("anchors", "finding"),
    [
        (("how-it-works", "next-steps", "premium"), "the document has no section 'premium'"),
        (("how-it-works",), "the section 'next-steps' is not listed"),
        (("next-steps", "how-it-works"), "the sections stand in another order than listed"),
    ],
)
def test_sections_that_differ_from_the_list_are_found(
    catalogue: Catalogue,
    edition: Edition,
    tmp_path: Path,
    anchors: tuple[str, ...],
    finding: str,
) -> None:
    findings = verify(catalogue, attrs.evolve(edition, anchors=anchors), NAMED, tmp_path)

    assert [f"de-2021-04: {finding}"] == findings


def test_bilingual_headings_match_the_longest_section_that_they_end_with(
    catalogue: Catalogue, edition: Edition, tmp_path: Path
) -> None:
    anchors = ("how-it-works", "using-a-key", "not-using-a-key")
    headed = attrs.evolve(edition, anchored_by="heading", anchors=anchors)

    assert verify(catalogue, headed, HEADED, tmp_path) == []


def test_a_folder_that_cannot_be_read_is_a_usage_error(catalogue, tmp_path) -> None:
    with pytest.raises(UsageError, match=r"Cannot read the documents in .*absent"):
        verify_documents(catalogue, tmp_path / "absent")
