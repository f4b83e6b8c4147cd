"""When what is decided is written, and who hears of it when: the saver by itself."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

import pytest

from busproof import vocabulary as v
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.bus import Bus
from busproof.broker.configuration.emulator import Configuration
from busproof.broker.core import Hub
from busproof.broker.storage import store
from busproof.broker.storage.change_log import ChangeLog
from busproof.broker.storage.commits import Saver
from busproof.broker.storage.databases import Full, damage_error
from busproof.broker.storage.startup import Keeping
from busproof.broker.storage.store import Store
from busproof.errors import ConformanceError, UsageError
from busproof.spec import load

Tried = Callable[[Hub, Saver], Coroutine[None, None, None]]


def on(folder: Path, tried: Tried, *, synced: bool = False) -> Keeping:
    """Try something on a hub with a store and a queue."""

    async def trying() -> Keeping:
        keeping = Keeping(folder, synced=synced)
        bus = Bus(v.profile_for(load()))
        bus.ask(v.CreateQueue(queue="q"), "c")
        hub = Hub(keeping.bus(Configuration(), lambda: bus, {}), AccessPolicies(()))
        saver = keeping.attach(hub, lambda: None)
        try:
            await tried(hub, saver)
        finally:
            hub.close()
            saver.close()
        return keeping

    return asyncio.run(trying())


def send(hub: Hub, body: str) -> None:
    assert hub.bus.ask(v.Send(queue="q", message=v.Message(body=body)), "c").refused is None


def held(folder: Path) -> int:
    """How many messages the queue has when the store is opened."""
    found: list[int] = []

    async def look(hub: Hub, _: Saver) -> None:
        await asyncio.sleep(0)
        found.append(len(hub.bus.namespace.entities["q"].messages))

    on(folder, look)
    return found[0]


@pytest.mark.parametrize("synced", [False, True])
def test_nobody_hears_of_what_is_not_written(tmp_path: Path, synced: bool) -> None:
    """Nor, before that, of anything else."""

    async def tried(hub: Hub, saver: Saver) -> None:
        heard: list[str] = []
        hub.tell(lambda: heard.append("before"))
        assert ["before"] == heard
        send(hub, "a")
        hub.tell(lambda: heard.append("a"))
        hub.tell(lambda: heard.append("b"))
        assert ["before"] == heard
        await hub.wait_until_saved()
        assert ["before", "a", "b"] == heard
        assert not saver.log.any

    on(tmp_path, tried, synced=synced)
    assert 1 == held(tmp_path)


def test_full_disk_delays_answers_until_there_is_space(tmp_path: Path, monkeypatch) -> None:
    """The reserve is given up for it, sends are refused, and in the end it is there again."""
    left, begin, reserve = [2], Store.begin, tmp_path / "reserve"

    def full(store: Store, *args: object) -> None:
        if left[0]:
            left[0] -= 1
            raise Full("database or disk is full")
        assert not reserve.exists()
        begin(store, *args)

    async def tried(hub: Hub, saver: Saver) -> None:
        assert reserve.exists()
        monkeypatch.setattr(Store, "begin", full)
        heard: list[str] = []
        said: list[str] = []
        hub.warn = said.append
        send(hub, "a")
        hub.tell(lambda: heard.append("a"))
        while not saver.is_full:
            await asyncio.sleep(0.01)
        assert [] == heard
        with pytest.raises(Refusal, match="disk of the store is full"):
            hub.check_room()
        await hub.wait_until_saved()
        assert ["a"] == heard
        monkeypatch.setattr(Store, "begin", begin)
        while saver.is_full:
            await asyncio.sleep(0.05)
        hub.check_room()
        assert reserve.exists()
        assert [True, False] == ["is full" in each for each in said]

    on(tmp_path, tried)
    assert 1 == held(tmp_path)


def test_pending_write_is_finished_at_the_end(tmp_path: Path, monkeypatch) -> None:
    begin = Store.begin

    def full(*_: object) -> None:
        raise Full("database or disk is full")

    async def tried(hub: Hub, _: Saver) -> None:
        send(hub, "a")
        monkeypatch.setattr(Store, "begin", full)
        hub.note()
        await asyncio.sleep(0.05)
        send(hub, "b")
        monkeypatch.setattr(Store, "begin", begin)

    on(tmp_path, tried)
    assert 2 == held(tmp_path)


def test_a_store_that_breaks_ends_the_broker_and_nobody_gets_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(store: Store, *_: object) -> None:
        raise damage_error(store.folder / "partition-0.db", "disk I/O error")

    heard: list[str] = []

    async def tried(hub: Hub, _: Saver) -> None:
        monkeypatch.setattr(Store, "begin", broken)
        send(hub, "a")
        hub.tell(lambda: heard.append("a"))
        await asyncio.sleep(0.05)

    keeping = on(tmp_path, tried)
    assert [] == heard
    with pytest.raises(UsageError, match=r"partition-0\.db is damaged: disk I/O error"):
        keeping.check()


def test_time_goes_on_while_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moments: list[int] = []

    async def look(hub: Hub, _: Saver) -> None:
        moments.append(hub.bus.now)  # what comes after the last commit is not written down
        send(hub, "x")
        await hub.wait_until_saved()

    on(tmp_path, look)
    monkeypatch.setattr("busproof.broker.bus.time.time", lambda: 4_000_000_000.0)
    on(tmp_path, look)
    monkeypatch.setattr("busproof.broker.bus.time.time", lambda: 1.0)
    on(tmp_path, look)
    assert moments == sorted(moments)
    assert moments[1] > 10**14


@pytest.mark.parametrize("method", ["note", "changes"])
@pytest.mark.parametrize("synced", [False, True])
def test_unexpected_exception_in_a_commit_ends_the_broker_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, method: str, synced: bool
) -> None:
    """With one sentence, instead of trying the same commit for ever; no client gets an answer."""
    heard: list[str] = []
    tries: list[int] = []

    def fail(*_: object) -> None:
        tries.append(1)
        raise OverflowError("int too big to convert")

    async def tried(hub: Hub, saver: Saver) -> None:
        await hub.wait_until_saved()
        monkeypatch.setattr(ChangeLog, method, fail)
        send(hub, "a")
        hub.tell(lambda: heard.append("a"))
        for _ in range(20):
            await asyncio.sleep(0)
            hub.schedule_serving()
            hub.tell(lambda: heard.append("b"))
        assert saver.log is not None

    keeping = on(tmp_path, tried, synced=synced)
    assert [] == heard
    assert 1 == len(tries)
    with pytest.raises(ConformanceError, match=r"cannot write to .*OverflowError at test_saving"):
        keeping.check()
    monkeypatch.undo()
    assert 0 == held(tmp_path)


@pytest.mark.parametrize("method", ["begin", "finish"])
@pytest.mark.parametrize("synced", [False, True])
def test_unexpected_exception_of_the_store_ends_the_broker_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, method: str, synced: bool
) -> None:
    tries: list[int] = []

    def fail(*_: object) -> None:
        tries.append(1)
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")

    async def tried(hub: Hub, _: Saver) -> None:
        await hub.wait_until_saved()
        monkeypatch.setattr(Store, method, fail)
        for body in "abc":
            send(hub, body)
            hub.schedule_serving()
            await asyncio.sleep(0.02)

    keeping = on(tmp_path, tried, synced=synced)
    assert 1 == len(tries)
    with pytest.raises(ConformanceError, match=r"UnicodeEncodeError at test_saving"):
        keeping.check()


def test_answer_that_cannot_be_given_keeps_no_other_back(tmp_path: Path) -> None:
    """One client's trouble is not another's."""
    heard: list[str] = []

    def fail() -> None:
        raise RuntimeError("the client's way is broken")

    async def tried(hub: Hub, _: Saver) -> None:
        for body in "ab":
            send(hub, body)
            hub.tell(fail)
            hub.tell(partial(heard.append, body))
            await hub.wait_until_saved()

    on(tmp_path, tried)
    assert ["a", "b"] == heard


def test_all_logs_stay_short_though_each_commit_is_large(tmp_path: Path, monkeypatch) -> None:
    """One log at a time is brought into its database, and none is left out."""
    monkeypatch.setattr(store, "LOG", 100_000)

    async def tried(hub: Hub, _: Saver) -> None:
        for commit in range(150):
            for number in range(64):
                send(hub, f"{commit}-{number}")
            await hub.wait_until_saved()
        longest = max(log.stat().st_size for log in tmp_path.glob("*-wal"))
        assert longest < 1_000_000

    on(tmp_path, tried)
