"""Sentences have parts that may be left out, and words in several forms with one meaning."""

import pytest

from busproof.steps.sentences import WORDS, Fate, name_in, sentence
from busproof.vocabulary.outcomes import Empty, Refused
from busproof.vocabulary.values import Error

SENT = sentence("a message {carried} {must:Tense} sent{place:To?}{within:Within?}")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a message without key is sent", ("without key", False, None, None)),
        ("a message without key was sent", ("without key", True, None, None)),
        (
            "a message without key is sent in the transaction",
            ("without key", False, None, "in the transaction"),
        ),
        (
            'a message with Label "x" was sent to the other one',
            ('with Label "x"', True, "the other one", None),
        ),
    ],
)
def test_a_part_is_none_where_it_is_left_out(text, values):
    """Its meaning is an argument of the step otherwise."""
    parsed = SENT.parse_arguments(text)
    assert values == tuple(parsed[name] for name in ("carried", "must", "place", "within"))


@pytest.mark.parametrize(
    "text",
    [
        "a message without key were sent in the transactions",
        "a message without key is sent to nobody",
        "a message is sent",
    ],
)
def test_any_other_text_does_not_fit(text):
    """A typing error is found before anything is sent."""
    assert not SENT.is_matching(text)


@pytest.mark.parametrize(
    ("word", "text", "meaning"),
    [
        ("Number", "a", 1),
        ("Number", "12", 12),
        ("HowMany", "each", 0),
        ("Session", ' of session ""', ""),
        ("Session", ' in session "a"', "a"),
        ("DeadLetters", " among its dead letters", "/$deadletterqueue"),
        ("DeadLetters", " among its dead letters of transfers", "/$transfer/$deadletterqueue"),
        ("Refusal", " because it is not found", {Error.NOT_FOUND}),
        ("OrRefusal", ", or refused because it is too large", {Error.MESSAGE_TOO_LARGE}),
        ("OrRefusal", " or refused", set(Error)),
        ("OrIfRefused", ", or 12 if it was refused", 12),
        ("Fate", "completed in the transaction", Fate("completed", "", within=True)),
        ("Fate", "dead-lettered", Fate("dead-lettered", "unreadable", within=False)),
        ("Settled", 'dead-lettered because of "x"', Fate("dead-lettered", "x", within=False)),
    ],
)
def test_a_word_has_a_meaning(word, text, meaning):
    """The same in every sentence."""
    assert meaning == WORDS[word](text)


@pytest.mark.parametrize(
    ("text", "outcome", "fits"),
    [
        ("finds nothing", Empty(), True),
        ("finds nothing", Refused(error=Error.NOT_FOUND), False),
        ("is refused", Refused(error=Error.NOT_FOUND), True),
        ("is refused", Empty(), False),
        ("is refused because it is not found", Refused(error=Error.NOT_FOUND), True),
        ("is refused because it is not found", Refused(error=Error.ENTITY_DISABLED), False),
    ],
)
def test_a_receive_finds_what_the_sentence_says(text, outcome, fits):
    """A refusal has the error that it names, if it names one."""
    assert fits is WORDS["Finds"](text).fits(outcome)


def test_every_word_is_listed_on_the_site():
    """By what a reader may write for it."""
    assert [] == [name for name, word in WORDS.items() if not word.listed]


def test_a_long_name_is_given_by_its_length():
    """Others stand in quotation marks."""
    assert ("end", "x" * 261) == (name_in('queue "end"'), name_in("a name of 261 characters"))
