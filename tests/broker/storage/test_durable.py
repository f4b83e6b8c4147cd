"""A broker with a store as users start it: what is there after a kill, and what it refuses."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusReceiveMode
from azure.servicebus.exceptions import ServiceBusQuotaExceededError
from azure.servicebus.management import AccessRights, AuthorizationRule, SqlRuleFilter
from proton.utils import BlockingConnection
from work import PATIENCE, until

from busproof import vocabulary as v
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.bus import Bus
from busproof.broker.configuration.emulator import Configuration
from busproof.broker.core import Hub
from busproof.broker.storage.startup import Keeping
from busproof.cli.main import main
from busproof.spec import load

from ..conftest import Served, administration, launched, running
from ..test_sdk_queues import emptied
from ..test_sdk_queues import taken as received

pytestmark = pytest.mark.slow

FREE = ("--port", "0", "--admin-port", "0", "--control")
SMALL = 48
"""MB of the disk that is filled."""
REFUSED = 5
"""How often a send is refused by a disk that is full and stays so."""

Begin = Callable[..., Served]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Starts a broker on a store, always the same, and ends the one before without a warning."""
    processes: list[subprocess.Popen[str]] = []

    def started(*options: str) -> Served:
        for each in processes:
            each.kill()
            each.wait(PATIENCE)
        processes.append(launched(*FREE, "--store", str(tmp_path / "store"), *options))
        return running(processes[-1])

    yield started
    for each in processes:
        each.kill()
        each.wait(PATIENCE)


def send(served: Served, queue: str, *bodies: str, **said: str) -> None:
    with served.client() as client, client.get_queue_sender(queue) as sender:
        for body in bodies:
            sender.send_messages(ServiceBusMessage(body, **said))


def taken(served: Served, queue: str, *, least: int = 0) -> list[str]:
    """All that is there, which is gone then; so many are waited for."""
    return sorted(emptied(served, queue, least=least))


@pytest.mark.parametrize("options", [(), ("--durable-power",)])
def test_answers_still_hold_after_a_kill(
    begin: Begin, config: Path, options: tuple[str, ...]
) -> None:
    """Sent, completed, locked, abandoned, deferred; the configuration is not needed again."""
    served = begin("--config", str(config), "--clock", "virtual", *options)
    send(served, "parted", "done", "locked", "back", "aside", "free")
    numbers: dict[str, int] = {}
    with served.client() as client, client.get_queue_receiver("parted") as receiver:
        held = {str(each): each for each in received(receiver, 5)}
        receiver.complete_message(held["done"])
        receiver.abandon_message(held["back"])
        receiver.defer_message(held["aside"])
        receiver.abandon_message(held["free"])
        numbers["aside"] = held["aside"].sequence_number or 0
    served = begin("--clock", "virtual", *options)
    with served.client() as client, client.get_queue_receiver("parted") as receiver:
        again = {str(each): each for each in received(receiver, 2)}
        assert {"back": 1, "free": 1} == {name: each.delivery_count for name, each in again.items()}
        (aside,) = receiver.receive_deferred_messages([numbers["aside"]])
        assert "aside" == str(aside)
        for each in (*again.values(), aside):
            receiver.complete_message(each)
    served.ask("/busproof/clock", advance=61)
    assert ["locked"] == taken(served, "parted", least=1)


def test_sessions_schedules_windows_and_rules_are_there_after_a_kill(
    begin: Begin, config: Path
) -> None:
    served = begin("--config", str(config), "--clock", "virtual")
    send(served, "sessions", "one", session_id="s")
    send(served, "distinct", "first", message_id="same")
    with served.client() as client:
        with client.get_queue_receiver("sessions", session_id="s") as receiver:
            receiver.session.set_state("kept")
        with client.get_queue_sender("plain") as sender:
            now = served.ask("/busproof/clock")["time"]
            later = ServiceBusMessage("later")
            at = _moment(now) + timedelta(seconds=60)
            sender.schedule_messages(later, at)
        with client.get_topic_sender("topic") as sender:
            big = ServiceBusMessage("big", application_properties={"size": 5})
            sender.send_messages([big, ServiceBusMessage("none")])
    served = begin("--clock", "virtual")
    send(served, "distinct", "second", message_id="same")
    assert ["first"] == taken(served, "distinct", least=1)
    assert [] == taken(served, "plain")
    served.ask("/busproof/clock", advance=61)
    assert ["later"] == taken(served, "plain", least=1)
    with served.client() as client:
        with client.get_queue_receiver("sessions", session_id="s") as receiver:
            assert b"kept" == receiver.session.get_state()
        with client.get_subscription_receiver(
            "topic", "some", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE
        ) as receiver:
            assert ["big"] == [str(each) for each in received(receiver)]
            assert [] == receiver.receive_messages(1, max_wait_time=1)
        with client.get_topic_sender("topic") as sender:
            sender.send_messages(ServiceBusMessage("small", application_properties={"size": 1}))
        with client.get_subscription_receiver(
            "topic", "some", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE, max_wait_time=1
        ) as receiver:
            assert [] == [str(each) for each in receiver]


def test_descriptions_are_there_after_a_kill_as_clients_wrote_them(
    begin: Begin, config: Path
) -> None:
    """Parameters of rules, authorization rules, metadata and times; not those of deleted ones."""
    served = begin("--config", str(config))
    key = AuthorizationRule(
        type="SharedAccessAuthorizationRule",
        claim_type="SharedAccessKey",
        claim_value="None",
        rights=[AccessRights.LISTEN],
        key_name="reader",
        primary_key="first",
        secondary_key="second",
    )
    with administration(served) as admin:
        admin.create_queue("described", authorization_rules=[key], user_metadata="mine")
        admin.create_queue("passing", user_metadata="gone")
        admin.delete_queue("passing")
        for name in ("r", "deleted"):
            chosen = SqlRuleFilter("size > @least", parameters={"@least": 3})
            admin.create_rule("topic", "some", name, filter=chosen)
        admin.delete_rule("topic", "some", "deleted")
        before = admin.get_queue_runtime_properties("described")
    served = begin()
    with administration(served) as admin:
        queue, after = admin.get_queue("described"), admin.get_queue_runtime_properties("described")
        (kept,) = queue.authorization_rules or ()
        assert ("mine", "reader", "first") == (queue.user_metadata, kept.key_name, kept.primary_key)
        assert (before.created_at_utc, before.updated_at_utc) == (
            after.created_at_utc,
            after.updated_at_utc,
        )
        filters = {rule.name: rule.filter for rule in admin.list_rules("topic", "some")}
        assert {"big", "r"} == set(filters)
        assert ("size > @least", {"@least": 3}) == (
            filters["r"].sql_expression,
            filters["r"].parameters,
        )
        admin.create_queue("passing")
        assert not admin.get_queue("passing").user_metadata


def test_descriptions_end_with_their_namespace(begin: Begin, config: Path) -> None:
    """A queue of the next namespace has none, before a restart and after it."""
    options = ("--config", str(config))
    served = begin(*options)
    with administration(served) as admin:
        queue = admin.get_queue("plain")
        queue.user_metadata = "mine"
        admin.update_queue(queue)
    served.ask("/busproof/namespace", configured=True)
    for _ in range(2):
        with administration(served) as admin:
            assert not admin.get_queue("plain").user_metadata
        served = begin(*options)


def test_more_than_may_wait_for_the_disk_comes_in_turn(begin: Begin, config: Path) -> None:
    """A client that wants a hundred large messages at once gets them all."""
    served = begin("--config", str(config))
    bodies = {f"{number:03}" + "x" * 100_000 for number in range(60)}
    send(served, "plain", *bodies)
    connection = BlockingConnection(
        f"amqp://127.0.0.1:{served.port}",
        allowed_mechs="PLAIN",
        user="RootManageSharedAccessKey",
        password="SAS_KEY_VALUE",
    )
    receiver = connection.create_receiver("plain", credit=len(bodies))
    found = set()
    for _ in bodies:
        # Its body is gone with it.
        message = receiver.receive(timeout=PATIENCE)
        found.add(bytes(message.body).decode())
    connection.close()
    assert bodies == found


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_a_namespace_that_was_begun_anew_stays_so(begin: Begin, config: Path) -> None:
    served = begin("--config", str(config))
    send(served, "parted", "before")
    served.ask("/busproof/namespace", configured=True)
    send(served, "parted", "after")
    served = begin()
    assert ["after"] == taken(served, "parted", least=1)
    served.ask("/busproof/namespace", tier="premium", partitions=20)
    served = begin()
    found = served.ask("/busproof/state")
    assert ("premium", 20, {}) == (found["tier"], found["partitions"], found["entities"])


def test_a_partitioned_namespace_is_one_after_a_restart(begin: Begin) -> None:
    served = begin("--tier", "premium", "--namespace-partitions", "2", "--messaging-units", "4")
    numbers = ("tier", "partitions", "namespace_partitions", "messaging_units")
    before = served.ask("/busproof/state")
    after = begin().ask("/busproof/state")
    assert ["premium", 2, 2, 4] == [before[each] for each in numbers]
    assert [before[each] for each in numbers] == [after[each] for each in numbers]


def test_an_entity_that_was_disabled_stays_so(tmp_path: Path) -> None:
    async def disabled(*, first: bool) -> dict[str, str]:
        keeping = Keeping(tmp_path / "store")
        made = Bus(v.profile_for(load()))
        made.ask(v.CreateQueue(queue="q"), "c")
        hub = Hub(keeping.bus(Configuration(), lambda: made, {}), AccessPolicies(()))
        saver = keeping.attach(hub, lambda: None)
        if first:
            hub.say_status("q", "Disabled")
            await hub.wait_until_saved()
        found = dict(hub.statuses.said)
        hub.close()
        saver.close()
        return found

    assert {"q": "Disabled"} == asyncio.run(disabled(first=True))
    assert {"q": "Disabled"} == asyncio.run(disabled(first=False))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--durable-power",), "of no use without --store"),
        (("--accept-loss",), "of no use without --store"),
        (("--store", "s", "--policy", "hostile"), "another --policy than hostile"),
        (("--store", "s", "--adapter", "faulty:none"), "leave --adapter out"),
        (("--store", "/dev/null/s"), "cannot use /dev/null/s as a store"),
    ],
)
def test_options_that_conflict_with_a_store_are_named(
    capfd: pytest.CaptureFixture[str], options: tuple[str, ...], expected: str
) -> None:
    assert 2 == main(["serve", *FREE, *options])
    said = capfd.readouterr().err
    assert expected in said
    assert 1 == said.count("\n")


def test_a_store_stays_what_it_was_created_as(begin: Begin, config: Path, tmp_path: Path) -> None:
    """A configuration that wants something else is refused, and a second broker too."""
    begin("--config", str(config))
    store = ("--store", str(tmp_path / "store"))
    assert "in use by another broker" in refused(*store)
    begin("--config", str(config)).process.kill()
    said = json.loads(config.read_text(encoding="utf-8"))
    said["UserConfig"]["Namespaces"][0]["Partitions"] = 8
    other = tmp_path / "Other.json"
    other.write_text(json.dumps(said), encoding="utf-8")
    assert "Partitions is 8 in the configuration and 16 in the store" in refused(
        *store, "--config", str(other)
    )


def refused(*options: str) -> str:
    """What a broker says that does not start."""
    ended = subprocess.run(
        [sys.executable, "-m", "busproof", "serve", *FREE, *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert 2 == ended.returncode
    assert 1 == ended.stderr.count("\n")
    return ended.stderr


def on_a_small_disk(folder: Path, *options: str) -> "subprocess.Popen[str]":
    """A broker whose store is on a disk of its own, that only it sees."""
    folder.mkdir()
    mount = f'mount -t tmpfs -o size={SMALL}m none "$0" && exec "$@"'
    serve = (sys.executable, "-m", "busproof", "serve", *FREE, "--store", str(folder), *options)
    return subprocess.Popen(
        ["unshare", "-rm", "sh", "-c", mount, str(folder), *serve],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.needs("own-mount")
def test_a_full_disk_refuses_sends_and_goes_on_serving_receives(
    config: Path, tmp_path: Path
) -> None:
    """What was accepted is all there, and once it is gone there is room again."""
    process = on_a_small_disk(tmp_path / "small", "--config", str(config))
    try:
        served = running(process)
        accepted = filled(served)
        assert accepted > 20
        with pytest.raises(ServiceBusQuotaExceededError, match="disk of the store is full"):
            send(served, "parted", "more")
        assert accepted == len(taken(served, "parted", least=accepted))
        assert sent_again(served)
    finally:
        process.kill()
        process.wait(PATIENCE)


def filled(served: Served) -> int:
    """Send until the disk is full and stays so; how many were accepted.

    At first there is some room to be made: what is in the logs is in the files too.
    """
    accepted = refused = 0
    with served.client() as client, client.get_queue_sender("parted") as sender:
        while refused < REFUSED:
            try:
                sender.send_messages(ServiceBusMessage("x" * 200_000))
            except ServiceBusQuotaExceededError:
                refused += 1
                time.sleep(0.3)
            else:
                accepted, refused = accepted + 1, 0
            assert accepted < 1_000, "the disk did not become full"
    return accepted


def sent_again(served: Served) -> bool:
    """Whether a message is taken once the broker has looked for room."""

    def is_taken() -> bool:
        try:
            send(served, "parted", "again")
        except ServiceBusQuotaExceededError:
            return False
        return True

    return until(is_taken)
