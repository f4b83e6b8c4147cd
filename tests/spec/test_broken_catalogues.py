"""A catalogue that is wrong in one place is refused, and the complaint says where and why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rows import rows_of

from busproof.errors import SpecificationError
from busproof.spec import load

Change = Callable[[Any], object]
Complaint = Callable[[str, Change], str]

KEY = "rules/KEY.yaml"
REMOVED = {"removed": True}


def rule(content: Any, wanted: str = "KEY-03") -> Any:
    return next(entry for entry in content["rules"] if entry["id"] == wanted)


def within(content: Any, name: object) -> Any:
    """The value of a name; in a list of entries, the entry with this id."""
    if isinstance(content, dict) or isinstance(name, int):
        return content[name]
    return next(entry for entry in content if entry["id"] == name)


def test_an_unchanged_copy_loads_to_an_equal_catalogue(copy: Path) -> None:
    assert load() == load(copy)


@pytest.mark.parametrize(("file", "place", "value", "said"), rows_of(__file__, "broken"))
def test_a_wrong_value_is_refused_with_its_place_and_what_is_allowed(
    complaint: Complaint, file: str, place: list[Any], value: Any, said: str
) -> None:
    """Its place is a list of names; of what is allowed the row has the first words."""

    def change(content: Any) -> None:
        *outer, last = place
        for name in outer:
            content = within(content, name)
        if value == REMOVED:
            content.pop(last)
        else:
            content[last] = value

    assert complaint(file, change).startswith(said)


def test_never_without_a_reason_is_refused_whatever_the_modality(complaint: Complaint) -> None:
    said = complaint(KEY, lambda content: rule(content).update(shown_by="never", oracles=[]))

    assert f"{KEY}: KEY-03: why_never: this field is missing" in said


def test_a_place_that_a_rule_cites_twice_is_refused(complaint: Complaint) -> None:
    said = complaint(
        KEY,
        lambda content: rule(content)["citations"].append(
            {
                "source": "de-2021-04",
                "anchor": "using-a-partition-key",
                "remark": "again",
            }
        ),
    )

    assert "KEY-03: citations: 'de-2021-04 using-a-partition-key' is not allowed" in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"# only a comment\n", "the file is empty"),
        (b"family: KEY\ntitle: [unclosed\n", "line 3: not valid YAML"),
        (b"family: KEY\nfamily: KEY\n", "line 2: field 'family' stands twice in one entry"),
        (b"family: KEY\nrules: [{id: a, id: b}]\n", "line 2: field 'id' stands twice"),
        (b"family: KEY\ntitle: \x80\n", "byte 19 is not UTF-8"),
        (b"- KEY-01\n", "['KEY-01'] is not a mapping of named fields"),
        (b"1: KEY\n", "{1: 'KEY'} is not a mapping of named fields"),
        (b"family: !!python/name:os.system x\n", "line 1: not valid YAML"),
    ],
)
def test_a_file_that_is_no_catalogue_file_is_refused(copy, content, message) -> None:
    (copy / KEY).write_bytes(content)

    with pytest.raises(SpecificationError) as caught:
        load(copy)

    assert str(caught.value).startswith(f"{KEY}: {message}")


def test_a_missing_file_is_refused(copy: Path) -> None:
    (copy / "sources.yaml").unlink()

    with pytest.raises(SpecificationError, match=r"sources.yaml: cannot be read: No such file"):
        load(copy)


@pytest.mark.parametrize("kind", ["rules", "ambiguities"])
def test_a_folder_without_files_is_refused(copy: Path, kind: str) -> None:
    for file in (copy / kind).iterdir():
        file.unlink()

    with pytest.raises(SpecificationError, match=f"{kind}/: there is no file of {kind}"):
        load(copy)
