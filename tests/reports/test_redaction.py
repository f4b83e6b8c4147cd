"""What is private goes, what explains stays."""

import getpass
import socket
from pathlib import Path

import attrs
import pytest

from busproof.reports.redaction import redact, redact_text

TEXTS = [
    ("cannot reach amqps://me:pw@bus.example.net:5671/q?x=1", "cannot reach amqps://…"),
    ("Endpoint=sb://ns.example.net/;x", "Endpoint=sb://…;x"),
    ("SharedAccessKeyName=root;SharedAccessKey=aGk=;", "SharedAccessKeyName=…;SharedAccessKey=…;"),
    ("at http://me:pw@localhost:80/x", "at http://…@localhost:80/x"),
    ("token: abc, Bearer abcdefgh12345==", "token: …, Bearer …"),
    ("password='geheim'", "password='geheim'".replace("geheim", "…")),
    ('File "/opt/lib/python3/x.py", line 3', 'File "…/x.py", line 3'),
    (r"C:\Users\me\x.json is gone", r"…\x.json is gone"),
    ("~/x/y.txt is gone", "…/y.txt is gone"),
    ("('../../home/x/y.py', 3)", "('…/y.py', 3)"),
]

HARMLESS = [
    "",
    "tier: basic is not one of standard, premium",
    "lock_token is lost; 3/4 and/or q/Subscriptions/s",
    "see https://example.org/docs/page",
    "the adapter did not answer within 30 s",
]


@pytest.mark.parametrize(("text", "public"), TEXTS)
def test_secrets_addresses_and_paths_go(text: str, public: str) -> None:
    assert public == redact_text(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_not_redacted(text: str) -> None:
    assert text == redact_text(text)


def test_the_current_folder_goes_and_what_is_below_it_stays() -> None:
    assert redact_text(f"{Path.cwd()}/runs/x.jsonl:3") == "…/runs/x.jsonl:3"


def test_a_folder_whose_name_only_begins_alike_is_a_path_like_any() -> None:
    assert redact_text(f"{Path.cwd()}-old/x.jsonl") == "…/x.jsonl"


def test_host_and_user_go_as_whole_words(monkeypatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "box7.example.net")
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    assert redact_text("Ann at BOX7, box7.example.net; annual box77") == "… at …, …; annual box77"


def test_a_machine_that_has_no_user_or_home_is_no_error(monkeypatch) -> None:
    def unknown() -> str:
        raise KeyError("uid not found")

    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(getpass, "getuser", unknown)
    monkeypatch.setattr(Path, "home", homeless)
    assert redact_text("plain") == "plain"


@pytest.mark.parametrize(
    ("adapter", "public"),
    [
        ("model", "model"),
        ("package.module:factory", "package.module:factory"),
        ("exec:node bus.js --key geheim", "exec:…"),
        ("amqp://me:pw@host/", "amqp://…"),
        ("Endpoint=sb://x/;SharedAccessKey=y", "Endpoint=…"),
    ],
)
def test_an_adapter_is_reported_by_its_kind(conformance, adapter, public) -> None:
    report = attrs.evolve(conformance, subject=attrs.evolve(conformance.subject, adapter=adapter))
    assert public == redact(report).subject.adapter


def test_an_adapter_called_like_the_user_keeps_its_name(conformance, monkeypatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "spark")
    report = attrs.evolve(conformance, subject=attrs.evolve(conformance.subject, adapter="spark"))
    assert redact(report).subject.adapter == "spark"


def test_a_run_that_reveals_nothing_private_stays_as_it_is(conformance) -> None:
    assert conformance == redact(conformance)
