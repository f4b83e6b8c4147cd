"""Rules and their keys: what they prove, where they are read from, and what stays secret."""

from pathlib import Path

import pytest

from busproof.broker.amqp.refusals import Refusal
from busproof.broker.auth import policies, tokens
from busproof.broker.auth.cbs import Claims
from busproof.broker.auth.policies import read_rules
from busproof.broker.auth.tokens import AccessPolicies, AccessPolicy, Claim, TokenError
from busproof.errors import UsageError

from .. import raw

NOW = 1_000_000.0
LONG = 4_000_000_000
SEND, LISTEN = frozenset({"Send"}), frozenset({"Listen"})
RULE = AccessPolicy("rule", "first", SEND, "second")

RULES = """[
  // the one that administers
  {"KeyName": "root", "PrimaryKey": "root-first", "SecondaryKey": "root-second"},
  {"KeyName": "ears", "PrimaryKey": "ears-first", "Rights": ["Listen"]},
  {"KeyName": "mouth", "PrimaryKey": "mouth-first", "SecondaryKey": null, "Rights": ["Send"]}
]"""


def claim_with(
    keys: AccessPolicies, key: str, name: str = "rule", resource: str = "sb://h/q"
) -> Claim:
    said = raw.signature(resource, LONG, key)
    quoted = raw.quote_plus(resource)
    text = f"sr={quoted}&sig={raw.quote_plus(said)}&se={LONG}&skn={name}"
    return keys.claim(f"SharedAccessSignature {text}", "q", NOW)


def test_either_key_of_a_rule_proves_the_same() -> None:
    keys = AccessPolicies([RULE])
    for key in ("first", "second"):
        assert SEND == claim_with(keys, key).rights
        assert SEND == keys.login("rule", key).rights
    for name, key in (("rule", "third"), ("rule", ""), ("other", "first")):
        with pytest.raises(TokenError, match="invalid signature"):
            claim_with(keys, key, name)
        with pytest.raises(TokenError, match="no rule"):
            keys.login(name, key)


def test_a_claim_is_for_its_path_and_all_beneath_it_until_it_ends() -> None:
    claim = claim_with(AccessPolicies([RULE]), "first")
    for path, now in (("q", NOW), ("q/$deadletterqueue", NOW), ("q/$management", LONG - 1)):
        assert claim.grants("Send", path, now)
    for right, path, now in (("Listen", "q", NOW), ("Send", "q2", NOW), ("Send", "q", LONG)):
        assert not claim.grants(right, path, now)


def test_error_for_a_wrong_key_does_not_reveal_the_rules() -> None:
    """Nor does the time that it takes: each key is compared, and one where there is no rule."""
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return real(one, other)

    real, said = tokens.hmac.compare_digest, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens.hmac, "compare_digest", compare)
        for name in ("rule", "none"):
            with pytest.raises(TokenError) as raised:
                claim_with(AccessPolicies([AccessPolicy("rule", "first")]), "wrong", name)
            said.append(str(raised.value).replace(repr(name), "NAME"))
            assert 1 == len(compared)
            compared.clear()
        claim_with(AccessPolicies([RULE]), "first")
        assert 2 == len(compared)
    assert said[0] == said[1]


def test_a_changed_key_ends_what_was_proved_by_it() -> None:
    """The other key's claims stay, with the rights that the rule has now."""
    keys = AccessPolicies([RULE])
    first, second = claim_with(keys, "first"), claim_with(keys, "second")
    keys.renew([AccessPolicy("rule", "third", LISTEN, "second")])
    assert keys.renewed(first) is None
    renewed = keys.renewed(second)
    assert renewed is not None
    assert (LISTEN, second.until, second.path) == (renewed.rights, renewed.until, renewed.path)
    with pytest.raises(TokenError, match="invalid signature"):
        claim_with(keys, "first")
    keys.renew([AccessPolicy("other", "second")])
    assert keys.renewed(second) is None


def test_a_token_may_have_to_name_this_broker() -> None:
    named = AccessPolicies([RULE], ["Bus.example", "localhost"])
    assert "q" == claim_with(named, "first", resource="amqps://BUS.example:5671/q").path
    for resource in ("sb://other.example/q", "q"):
        with pytest.raises(TokenError, match=r"it is for the host '.*', this is bus\.example or"):
            claim_with(named, "first", resource=resource)
        assert "q" == claim_with(AccessPolicies([RULE]), "first", resource=resource).path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "Microsoft Entra ID"),
        ("eyJhbGciOi", "not a shared access signature"),
        ("SharedAccessSignature sr=q&sig=&se=1&skn=rule", "lacks sig"),
        ("SharedAccessSignature sr=q&sig=YQ%3D%3D&se=soon&skn=rule", "'se' is not a number"),
        (f"SharedAccessSignature sr=q&sig=YQ%3D%3D&se={'9' * 5000}&skn=rule", "'se' is not"),
        (f"SharedAccessSignature sr=q&sig=YQ%3D%3D&se=1&skn={'x' * 9000}", "at most 8192"),
        ("SharedAccessSignature sr=q&sig=%C3%A9&se=1&skn=rule", "not base64"),
        ("SharedAccessSignature sr=q&sig=YQ%3D%3D&se=1&skn=\ud800", "invalid signature"),
    ],
)
def test_malformed_token_is_refused_with_its_reason(text: str, said: str) -> None:
    with pytest.raises(TokenError, match=said):
        AccessPolicies([RULE]).claim(text, "q", NOW)


def test_an_audience_that_is_no_address_proves_nothing() -> None:
    keys = AccessPolicies([RULE])
    text = raw.token("sb://h/q", "rule", "first")
    assert "q" == keys.claim(text, "sb://h/q", NOW).path
    with pytest.raises(TokenError, match="is not an address"):
        keys.claim(text, "sb://[h/q", NOW)


def test_claims_of_a_path_are_those_of_all_that_is_beneath_it() -> None:
    claims = Claims(9)
    claims.add(Claim("topic", LISTEN, float("inf"), "ears"))
    claims.add(Claim("topic", SEND, float("inf"), "mouth"))
    assert claims.permit("Listen", "Topic/Subscriptions/all")
    assert claims.permit("Send", "topic")
    assert not claims.permit("Listen", "topics")
    assert not claims.permit("Manage", "topic")
    claims.add(Claim("topic", SEND, 1.0, "mouth"))
    assert not claims.permit("Send", "topic")
    assert 2 == len(claims)
    claims.add(Claim("", SEND, float("inf"), "mouth"))
    assert claims.permit("Send", "topic/subscriptions/all")


def test_a_client_has_so_many_claims_and_no_more() -> None:
    claims = Claims(2)
    for path in ("a", "b", "a"):
        claims.add(Claim(path, SEND, float("inf"), "rule"))
    with pytest.raises(Refusal, match="2 tokens are in force"):
        claims.add(Claim("c", SEND, float("inf"), "rule"))


def test_no_key_is_printed() -> None:
    keys = AccessPolicies([RULE])
    claim = claim_with(keys, "second")
    for each in (RULE, claim, keys, [claim]):
        assert not {"first", "second"} & set(repr(each).replace("'", " ").replace(",", " ").split())


def test_rules_are_read_from_a_file_and_from_the_environment(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "keys.json"
    path.write_text(RULES, encoding="utf-8")
    monkeypatch.setenv("BUS_KEYS", RULES)
    root, ears, mouth = read_rules(str(path))
    assert (root, ears, mouth) == read_rules("env:BUS_KEYS")
    assert ("root-first", "root-second") == root.secrets
    assert (("ears-first",), LISTEN) == (ears.secrets, ears.rights)
    assert (("mouth-first",), SEND) == (mouth.secrets, mouth.rights)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"KeyName": "a"}]', "expected a PrimaryKey"),
        ('[{"PrimaryKey": "hush"}]', "expected a KeyName"),
        ('[{"KeyName": "a", "PrimaryKey": "hush", "Rights": ["hush"]}]', "Manage, Send, Listen"),
        ('[{"KeyName": "a", "PrimaryKey": ["hush"]}]', "PrimaryKey; expected a text"),
        ('[{"KeyName": "a", "PrimaryKey": 3141592}]', "PrimaryKey; expected a text"),
        ('[{"KeyName": "a", "PrimaryKey": ""}]', "1 to 256 characters"),
        ('[{"KeyName": "a", "PrimaryKey": "b", "SecondaryKey": 3141592}]', "expected a text"),
        ('[{"KeyName": "a", "PrimaryKey": "x"}, {"KeyName": "a", "PrimaryKey": "y"}]', "twice"),
        ("[]", "at least one rule"),
        ('"hush"', "an array"),
        ("hush", "is not JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_rules_that_are_none_are_named_without_a_key(monkeypatch, text: str, said: str) -> None:
    monkeypatch.setenv("BUS_KEYS", text)
    with pytest.raises(UsageError, match=said) as raised:
        read_rules("env:BUS_KEYS")
    assert str(raised.value).startswith("env:BUS_KEYS:")
    assert "hush" not in str(raised.value)
    assert "3141592" not in str(raised.value)


def test_a_source_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    for read in (read_rules, policies.read_secret):
        with pytest.raises(UsageError, match=r"cannot read .*missing"):
            read(missing)
        with pytest.raises(UsageError, match="'BUS_NOTHING' is not set"):
            read("env:BUS_NOTHING")
    Path(missing).write_text(" \n")
    with pytest.raises(UsageError, match="is empty"):
        policies.read_secret(missing)
    Path(missing).write_text(" word \n")
    assert "word" == policies.read_secret(missing)
