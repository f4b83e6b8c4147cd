"""Whatever a child does, it ends, and nothing is left behind."""

import os
import re
import signal
import tracemalloc

import pytest
from children import IMPATIENCE, PEEK, PROFILE, Make, pid_of, use
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters import process
from busproof.errors import AdapterError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups are of POSIX")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child is given no more time to start than to answer."""
    monkeypatch.setattr(process, "STARTING", IMPATIENCE)


def test_to_start_may_take_longer_than_to_answer(make: Make) -> None:
    adapter = make(timeout=0.01)
    assert adapter.declaration.implementation.name


HANGING = [
    ("hello hang", "did not answer request 1 (hello) within 0.3 s: it must flush each answer; --"),
    ("command hang", "did not answer request 3 (Peek) within 0.3 s: it must flush each answer"),
    ("command hang-with-family", "did not answer request 3 (Peek) within 0.3 s"),
    ("command say-and-hang {", "request 3 (Peek) within 5 s: its line has no end, '{'"),
    ("command close", "closed its standard input or output before it answered request 3 (Peek)"),
    ("command close-input", "closed its standard input or output before it read request 4 (Peek)"),
    ("bye hang", "did not answer request 5 (bye) within 2 s"),
    ("bye hang-deaf", "answered bye and went on running: it must end by itself"),
]


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("arguments", "said"), HANGING)
def test_a_child_that_hangs_is_killed_in_time(make: Make, arguments: str, said: str) -> None:
    limit = re.search(r"\(Peek\) within (\S+) s", said)
    at_first = IMPATIENCE if arguments.startswith("hello") else PATIENCE
    with pytest.raises(AdapterError, match=re.escape(said)):
        use(make(*arguments.split(), timeout=at_first), float(limit[1]) if limit else PATIENCE)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_child_that_never_reads_is_killed_in_time(make: Make) -> None:
    stuck = make("never-read", timeout=IMPATIENCE)
    with pytest.raises(AdapterError, match=re.escape("did not answer request 1 (hello)")):
        stuck.start(PROFILE)


@pytest.mark.slow
def test_a_full_pipe_does_not_hang(make: Make) -> None:
    adapter = make("command", "hang")
    adapter.start(PROFILE)
    adapter._timeout = IMPATIENCE
    large = v.Send(queue="q", message=v.Message(body="x" * 3_000_000))
    os.kill(pid_of(adapter), 19)
    with pytest.raises(AdapterError, match=re.escape("did not read request 3 (Send) within 0.3 s")):
        adapter.do(large, "c1")


@pytest.mark.slow
def test_bye_may_take_two_seconds_at_most(make: Make) -> None:
    adapter = make("bye", "hang", timeout=60)
    adapter.start(PROFILE)
    with pytest.raises(AdapterError, match=re.escape("(bye) within 2 s")):
        adapter.stop()
    adapter.stop()


@pytest.mark.slow
def test_a_line_of_100_mb_is_refused_without_being_held(make: Make) -> None:
    adapter = make("command", "flood")
    adapter.start(PROFILE)
    tracemalloc.start()
    with pytest.raises(AdapterError, match=r"with a line of more than 16777216 bytes"):
        adapter.do(PEEK, "c1")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 40_000_000


@pytest.mark.slow
def test_megabytes_of_log_are_cut_to_their_end(make: Make) -> None:
    adapter = make("command", "log")
    adapter.start(PROFILE)
    adapter.do(PEEK, "c1")
    os.kill(pid_of(adapter), signal.SIGKILL)
    with pytest.raises(AdapterError) as caught:
        adapter.do(PEEK, "c1")
    sentence, ends, *tail = str(caught.value).splitlines()
    assert "was killed by SIGKILL" in sentence
    assert (ends, len(tail)) == ("its log ends with:", 20)
    assert tail[-1].startswith("  log line 99999 \ufffdyyy")
    assert len(tail[-1]) == 202


def test_an_interrupted_request_kills_the_child(make: Make, monkeypatch) -> None:
    adapter = make()
    adapter.start(PROFILE)

    def interrupt(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(adapter._child, "receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        adapter.do(PEEK, "c1")
    with pytest.raises(AdapterError, match="does not run"):
        adapter.do(PEEK, "c1")


def test_processes_left_by_a_child_are_killed_after_bye(make: Make) -> None:
    adapter = make("bye", "leave-family")
    adapter.start(PROFILE)
    adapter.stop()


def test_a_forgotten_adapter_takes_its_child_along(make: Make) -> None:
    adapter = make()
    adapter.start(PROFILE)
    adapter._child._log.close()
    adapter._child = None
