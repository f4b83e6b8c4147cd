"""Configuration files as people and tools write them, with what .NET takes beyond JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from busproof import vocabulary as v
from busproof.broker.configuration.emulator import Configuration, read_configuration
from busproof.errors import UsageError

QUEUE = {"Name": "q"}


def file_of(*queues: object, **fields: Any) -> str:
    namespace = {"Name": "n", "Queues": list(queues), **fields}
    return json.dumps({"UserConfig": {"Namespaces": [namespace]}}, indent=1)


def configured(folder: Path, written: str | bytes, *, strict: bool = False) -> Configuration:
    path = folder / "Config.json"
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    return read_configuration(path, strict=strict)


def names_in(configuration: Configuration) -> list[str]:
    return [v.created_path(each) for each in configuration.created]


@pytest.mark.parametrize(
    "written",
    [
        file_of(QUEUE).encode("utf-8-sig"),
        file_of(QUEUE).encode("utf-16"),
        file_of(QUEUE).replace("\n", "\r\n"),
        file_of(QUEUE).replace(" ", "\t"),
        '{"UserConfig": {"Namespaces": [{"Name": "n", "Queues": [{"Name": "q",},],},],},}',
        '{"UserConfig": {"Namespaces": [{"Name": "n", "Queues": [{"Name": "q"}, // last\n ]}]}}',
        '{"userConfig": {"namespaces": [{"name": "n", "queues": [{"name": "q"}]}]}}',
        '/* a, */ {"UserConfig": {"Namespaces": [{"Name": "n", "Queues": [{"Name": "q"}]}]}} // ,]',
    ],
)
def test_file_is_read_however_it_is_written(tmp_path: Path, written: str | bytes) -> None:
    """With the encodings, the last commas, the comments and the case that .NET reads."""
    assert ["q"] == names_in(configured(tmp_path, written, strict=True))


@pytest.mark.parametrize("name", ["a,]b", "a//b", "a\U0001f600b"])
def test_text_is_kept_as_it_is(tmp_path: Path, name: str) -> None:
    """A comma or slashes in it are part of it, and two escapes of UTF-16 are one character."""
    assert [name] == names_in(configured(tmp_path, file_of({"Name": name})))


def test_half_of_a_character_is_shown_as_unreadable(tmp_path: Path) -> None:
    """It could be written to no client."""
    written = file_of(QUEUE).replace('"q"', '"q\\ud83d"')
    assert ["q\N{REPLACEMENT CHARACTER}"] == names_in(configured(tmp_path, written))


def test_numbers_and_truths_may_be_in_quotation_marks(tmp_path: Path) -> None:
    properties = {"MaxDeliveryCount": "3", "RequiresSession": "True", "MaxSizeInMegabytes": 2048.0}
    found = configured(tmp_path, file_of({"Name": "q", "Properties": properties}))
    assert found.created == [
        v.CreateQueue(
            queue="q", partitioned=False, max_delivery_count=3, requires_session=True, max_size=2
        )
    ]


def test_field_that_stands_twice_is_named(tmp_path: Path) -> None:
    """Its last value counts, as in JSON; a strict configuration refuses it."""
    written = file_of(QUEUE).replace('"Queues"', '"Queues": [],\n"Queues"')
    found = configured(tmp_path, written)
    assert ["q"] == names_in(found)
    assert "Queues stands twice; the last one counts" in found.warnings[0]
    with pytest.raises(UsageError, match=r"Config.json:\d+: .* stands twice"):
        configured(tmp_path, written, strict=True)


def test_years_and_months_are_those_of_dotnet(tmp_path: Path) -> None:
    """A year has 365 days, a month 30."""
    properties = {"DefaultMessageTimeToLive": "P1Y2M3DT1S"}
    found = configured(tmp_path, file_of({"Name": "q", "Properties": properties}))
    assert found.created[0].time_to_live == (428 * 86_400 + 1) * 1_000_000


def test_destination_may_be_an_address(tmp_path: Path) -> None:
    """As clients of administration show it."""
    properties = {"ForwardTo": "sb://n.servicebus.windows.net/a/b"}
    found = configured(tmp_path, file_of({"Name": "q", "Properties": properties}))
    assert "a/b" == found.created[0].forward_to


def test_rule_that_is_always_true_and_null_conditions_are_taken(tmp_path: Path) -> None:
    """Null stands for what is left out, in the conditions of a filter, too."""
    conditions = {"Label": "red", "To": None, "Properties": {"size": "big", "none": None}}
    rules = [
        {"Name": "all", "Properties": {"FilterType": "TrueFilter"}},
        {"Name": "some", "Properties": {"CorrelationFilter": conditions, "SqlFilter": None}},
    ]
    topic = {"Name": "t", "Subscriptions": [{"Name": "s", "Rules": rules}]}
    found = configured(tmp_path, file_of(Topics=[topic]))
    assert [each.filter for each in found.created if isinstance(each, v.AddRule)] == [
        v.TrueFilter(),
        v.CorrelationFilter(subject="red", properties={"size": "big"}),
    ]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "is empty; it has to have an object in JSON"),
        (file_of(QUEUE).replace('"q"', '"é"').encode("latin-1"), "save it in UTF-8"),
        ("[,]", "this is not JSON"),
        ('{"UserConfig": {,}}', "this is not JSON"),
        ('{"UserConfig": {"Namespaces": [1,,]}}', "this is not JSON"),
    ],
)
def test_what_is_no_configuration_is_refused(
    tmp_path: Path, written: str | bytes, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        configured(tmp_path, written)
