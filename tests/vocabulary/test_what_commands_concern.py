"""What a command creates, concerns and consists of."""

import pytest

from busproof import vocabulary as v


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (v.CreateQueue(queue="q"), "q"),
        (v.CreateTopic(topic="n"), "n"),
        (v.CreateSubscription(topic="n", subscription="s"), "n/subscriptions/s"),
    ],
)
def test_the_path_that_a_command_creates(command: v.Creation, path: str) -> None:
    assert path == v.created_path(command)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (v.CreateQueue(queue="q"), None),
        (v.CreateTopic(topic="n"), None),
        (v.CreateSubscription(topic="n", subscription="s"), "n"),
        (v.GetTopic(topic="n"), "n"),
        (v.ListRules(topic="n", subscription="s"), "n/subscriptions/s"),
        (v.Receive(queue="q/$deadletterqueue"), "q/$deadletterqueue"),
        (v.BeginTransaction(transaction="t"), None),
    ],
)
def test_the_entity_that_has_to_exist(command: v.Command, path: str | None) -> None:
    assert path == v.concerned(command)


def test_a_queue_has_two_dead_letter_queues() -> None:
    expected = ("q/$deadletterqueue", "q/$transfer/$deadletterqueue")
    assert expected == v.dead_letter_queues_of("q")


@pytest.mark.parametrize(
    ("disposition", "single"),
    [
        (v.Disposition.COMPLETE, v.Complete(queue="q", lock_token="1")),
        (v.Disposition.ABANDON, v.Abandon(queue="q", lock_token="1")),
        (v.Disposition.DEFER, v.Defer(queue="q", lock_token="1")),
        (
            v.Disposition.DEAD_LETTER,
            v.DeadLetter(queue="q", lock_token="1", reason="unreadable"),
        ),
    ],
)
def test_settlements_of_a_request_settle_each_lock_once(disposition, single) -> None:
    together = v.SettleBatch(
        queue="q", lock_tokens=("1", "1"), disposition=disposition, reason="unreadable"
    )
    assert (single,) == together.settlements()


def test_renewals_of_a_request_renew_each_lock_once() -> None:
    together = v.RenewLocks(queue="q", lock_tokens=("1", "2", "1"))
    expected = [v.RenewLock(queue="q", lock_token=token) for token in ("1", "2")]
    assert expected == [*together.renewals()]
