"""A child that speaks the protocol is an adapter; what it says wrong gets one clear sentence."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from children import CHILD, IMPATIENCE, PEEK, PROFILE, Make, pid_of, use

from busproof import vocabulary as v
from busproof.adapters.child import Broken, Child, Deadline
from busproof.adapters.process import RESTARTS, ProcessAdapter
from busproof.errors import AdapterError, UsageError

PATIENCE = 60.0
"""Seconds that a busy machine has to start a program."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups are of POSIX")


def test_a_child_that_keeps_the_protocol_is_an_adapter(make: Make) -> None:
    adapter = make()
    assert adapter.declaration == v.Declaration(
        implementation=v.Implementation(name="no bus", version="1", language="Python"),
        capabilities=frozenset({v.Capability.PEEK, v.Capability.WITNESS}),
    )
    adapter.start(PROFILE)
    send = v.Send(queue="q", message=v.Message(body="é"))
    assert adapter.do(send, "c1") == v.Observed(v.Done(), v.Witness(partition=3))
    adapter.start(PROFILE)
    adapter.stop()
    adapter.stop()


def test_no_child_is_started_before_it_is_needed(make: Make) -> None:
    make("never-read").stop()


def test_a_stopped_adapter_can_start_again(make: Make) -> None:
    adapter = make()
    for _ in range(RESTARTS + 2):
        adapter.start(PROFILE)
        adapter.stop()


def test_under_a_real_clock_time_passes_without_asking(make: Make, monkeypatch) -> None:
    monkeypatch.setenv("CHILD_CLOCK", "real")
    adapter = make("command", "end", "1")
    adapter.start(PROFILE)
    began = time.monotonic()
    assert adapter.do(v.AdvanceClock(duration=20_000), "c1") == v.Observed(v.Done())
    assert time.monotonic() - began >= 0.02
    assert adapter.declaration.clock is v.Clock.REAL


@pytest.mark.slow
def test_a_request_larger_than_a_pipe_is_read(make: Make) -> None:
    adapter = make()
    adapter.start(PROFILE)
    large = v.Send(queue="q", message=v.Message(body="x" * 1_000_000))
    assert adapter.do(large, "c1").outcome == v.Done()


HELLO = '{"id":$ID,"hello":{"protocol":1,"implementation":{"name":"x"},"capabilities":'

OUTCOME = '{"id":$ID,"outcome":'

MISBEHAVIOUR = [
    ("hello end 3", "ended with exit code 3 before it answered request 1 (hello)\nits log ends"),
    ("command end 0", "ended with exit code 0 before it answered request 3 (Peek)"),
    ("start kill SIGSEGV", "was killed by SIGSEGV before it answered request 2 (start)"),
    ("command kill 37", "was killed by signal 37 before it answered request 3 (Peek)"),
    ("command kill SIGRTMIN", "was killed by SIGRTMIN before it answered"),
    ("hello say Hello", "answered request 1 (hello) wrongly: the line must be JSON, and is not"),
    ("hello say Hello", "'Hello'; its log belongs on standard error"),
    (["hello", "say", r'Ready\n{"id":1}'], "the line must be JSON, and is not (Expecting value"),
    (["command", "say", ""], "answered request 3 (Peek) wrongly: the line must be JSON"),
    (["command", "say", "[1]"], "the line must be a JSON object, and is [1]"),
    (["command", "say", '"\xff"'], "the line must be UTF-8, and byte 2 of it is not"),
    (["command", "say", '{"id":7}'], "id is 7, and must be 3 as in the request"),
    (["command", "say", '{"id":"3"}'], 'id is "3", and must be 3 as in the request'),
    (["command", "say", '{"id":true}'], "id is true, and must be 3 as in the request"),
    (["command", "say", "{}"], "id is missing, and must be 3 as in the request"),
    (["command", "say", '{"id":$ID}'], "outcome is missing, and CommandAnswer needs it"),
    (["start", "say", '{"id":$ID,"start":{}}'], 'the answer has the unknown field "start", and mu'),
    (["start", "say", '{"id":$ID}'], "started is missing, and StartedAnswer needs it"),
    (["command", "say", OUTCOME + "3}"], "outcome is 3, and must be an object"),
    (
        ["command", "say", OUTCOME + '{"type":"Dnoe"}}'],
        'outcome.type is "Dnoe", and must be one of',
    ),
    (["command", "say", OUTCOME + '{"type":"Done","x":1}}'], 'outcome has the unknown field "x"'),
    (
        ["command", "say", OUTCOME + '{"type":"Received","message":{"body":1}}}'],
        "outcome.message.body is 1, and must be a string",
    ),
    (
        ["command", "say", OUTCOME + '{"type":"Refused","error":"gone"}}'],
        'outcome.error is "gone", and must be one of "invalid-operation", "unavailable"',
    ),
    (
        ["command", "say", OUTCOME + '{"type":"Done"},"witness":{"partition":-1}}'],
        "witness.partition is -1, and must be >= 0",
    ),
    (
        ["hello", "say", '{"id":1,"hello":{"protocol":2}}'],
        "hello.protocol is 2, and this busproof reads up to 1: upgrade busproof",
    ),
    (["hello", "say", '{"id":1,"hello":{}}'], "hello.protocol is missing, and must be 1"),
    (
        ["hello", "say", HELLO + '["peek","fly"]}}'],
        'hello.capabilities[1] is "fly", and must be one of "witness", "outages", "transactions"',
    ),
    (["hello", "say", HELLO + '[],"slack":-1}}'], "hello.slack is -1, and must be >= 0"),
    (["hello", "say", HELLO + '[],"clock":"sun"}}'], 'hello.clock is "sun", and must be one of'),
    (["command", "say-and-exit", '{"id":3'], "ended with exit code 0 in the middle of a line b"),
    (["command", "add", '{"id":3}'], "wrote a line that nobody asked for, '{\"id\":3}': it"),
    (["hello", "add", "x"], "wrote a line that nobody asked for, 'x': it must write one line for"),
    ("start flood-lines", "wrote a line that nobody asked for, "),
]


@pytest.mark.parametrize(("arguments", "said"), MISBEHAVIOUR)
def test_misbehaviour_gets_one_sentence(make: Make, arguments: str | list[str], said: str) -> None:
    words = arguments.split() if isinstance(arguments, str) else arguments
    with pytest.raises(AdapterError, match=re.escape(said)) as caught:
        use(make(*words))
    assert str(caught.value).startswith("the adapter `")


def test_an_extra_line_is_noticed_before_bye(make: Make) -> None:
    adapter = make("command", "add", "extra")
    adapter.start(PROFILE)
    adapter.do(PEEK, "c1")
    with pytest.raises(AdapterError, match="wrote a line that nobody asked for"):
        adapter.stop()


def test_an_end_between_two_requests_is_noticed(make: Make) -> None:
    adapter = make()
    adapter.start(PROFILE)
    os.kill(pid_of(adapter), signal.SIGKILL)
    adapter._child._process.wait()
    with pytest.raises(AdapterError, match="was killed by SIGKILL between two requests"):
        adapter.do(PEEK, "c1")


def test_a_line_before_the_first_answer_is_taken_for_it() -> None:
    """However early it comes: a slow machine says the same of the program."""
    child = Child([sys.executable, "-c", "print('connected', flush=True); input()"])
    try:
        assert select.select([child._out], [], [], PATIENCE)[0]
        child.check_silence("hello")
        assert child.receive("hello", Deadline(PATIENCE)) == b"connected"
    finally:
        child.end()


def test_an_end_before_the_first_request_is_no_end_between_two() -> None:
    child = Child([sys.executable, "-c", "raise SystemExit(3)"])
    child._process.wait()
    said = "ended with exit code 3 before it answered hello"
    with pytest.raises(Broken, match=said):
        child.check_silence("hello")
    with pytest.raises(Broken, match=said):
        child.send(b"{}\n", "hello", Deadline(1))
    child.end()


@pytest.mark.slow
def test_an_end_that_another_process_hides_is_reported(make: Make) -> None:
    adapter = make("command", "leave-family")
    adapter.start(PROFILE)
    adapter.do(PEEK, "c1")
    adapter._timeout = IMPATIENCE
    said = "0.3 s: it ended with exit code 0, and a process that it left behind holds its output"
    with pytest.raises(AdapterError, match=re.escape(said)):
        adapter.do(PEEK, "c1")


def test_an_empty_log_is_reported(make: Make) -> None:
    with pytest.raises(AdapterError, match="its log is empty"):
        use(make("hello", "say", "x"))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/no/such/program", "cannot be started: /no/such/program was not found"),
        ("no-such-program-of-busproof --x", "no-such-program-of-busproof was not found"),
        (str(CHILD), "must be a file that may be executed (chmod +x)"),
        (str(CHILD.parent), "must be a file that may be executed (chmod +x)"),
        ("a\0b", "cannot be started: embedded null byte"),
    ],
)
def test_command_that_cannot_start_is_reported(command: str, said: str) -> None:
    with pytest.raises(AdapterError, match=re.escape(said)) as caught:
        ProcessAdapter(command).start(PROFILE)
    assert "log" not in str(caught.value)


def test_a_file_that_is_no_program_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\0\0nonsense")
    program.chmod(0o755)
    with pytest.raises(AdapterError, match="cannot be started: Exec format error"):
        ProcessAdapter(str(program)).start(PROFILE)


@pytest.mark.parametrize(
    ("command", "timeout", "said"),
    [
        ("", 1, "the command is empty"),
        ("node 'bus.js", 1, "cannot be split into words: No closing quotation"),
        ("node", 0, "the timeout is 0 s, and must be more than 0"),
        ("node", float("nan"), "the timeout is nan s, and must be more than 0"),
    ],
)
def test_senseless_settings_are_refused(command: str, timeout: float, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        ProcessAdapter(command, timeout)


def test_nothing_is_asked_of_a_dead_child(make: Make) -> None:
    with pytest.raises(AdapterError, match="does not run: start a scenario before Peek"):
        make().do(PEEK, "c1")


def test_a_child_that_broke_is_replaced_three_times(make: Make, monkeypatch) -> None:
    adapter = make("command", "end", "3")
    for _ in range(RESTARTS + 1):
        adapter.start(PROFILE)
        with pytest.raises(AdapterError, match="ended with exit code 3"):
            adapter.do(PEEK, "c1")
    monkeypatch.setattr(subprocess, "Popen", None)
    said = "broke 4 times and is not started again; at last: it ended with exit code 3 before it"
    for _ in range(100):
        with pytest.raises(AdapterError, match=said):
            adapter.start(PROFILE)


def test_the_declaration_outlives_the_child(make: Make) -> None:
    adapter = make("start", "end", "1")
    declaration = adapter.declaration
    with pytest.raises(AdapterError):
        adapter.start(PROFILE)
    assert adapter.declaration is declaration


def test_a_child_that_changes_its_mind_is_refused(make: Make, monkeypatch) -> None:
    adapter = make()
    adapter.start(PROFILE)
    adapter.stop()
    monkeypatch.setenv("CHILD_SLACK", "5")
    with pytest.raises(AdapterError, match="declares something else than before"):
        adapter.start(PROFILE)
