"""The command line itself: its help, completion, colours, and what GitHub Actions reads of it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import attrs
import click
import pytest

from busproof.cli import audit, github, values
from busproof.cli.frame import Command
from busproof.cli.main import COMMANDS, main
from busproof.history.conformance import Verdict
from busproof.judging.audit import Audited, Result
from busproof.spec import load

PACKAGE = Path(github.__file__).parent.parent
NAMES = COMMANDS.list_commands(click.Context(COMMANDS))

IMPORTED = {
    "busproof",
    "busproof.errors",
    "busproof.cli",
    "busproof.cli.console",
    "busproof.cli.frame",
    "busproof.cli.github",
    "busproof.cli.main",
    "busproof.cli.wrong_usage",
}
"""What of busproof a help is made of."""

FEW = 160
"""Modules that may be imported for the help, click's and those of Python's library."""

IMPORTS = """
import json, sys
before = set(sys.modules)
from busproof.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""


def command(name: str) -> Command:
    """The command of a name."""
    found = COMMANDS.get_command(click.Context(COMMANDS), name)
    assert isinstance(found, Command)
    return found


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command line prints as a help."""
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert 0 == ended.value.code
    return capsys.readouterr().out


def program(line: str, shell: tuple[str, ...]) -> list[str]:
    """The lines that a shell prints when it runs a script, with `busproof` on its path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        [*shell, line], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert "" == ended.stderr
    return ended.stdout.splitlines()


def test_every_module_of_a_command_is_in_a_group():
    """A command that no help names would be found by nobody."""
    modules = {
        each.stem.replace("_", "-")
        for each in (PACKAGE / "cli").glob("*.py")
        if re.search(r"^COMMAND: Final = ", each.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert modules == set(NAMES)
    assert set(NAMES) == {command(name).name for name in NAMES}


@pytest.mark.parametrize("name", ["", *NAMES])
def test_every_help_ends_with_examples_that_can_be_typed(capsys, name):
    """Each is parsed as it stands; none is run."""
    examples = command(name).examples if name else COMMANDS.examples
    printed = help_of(capsys, *filter(None, [name])).partition("\nExamples:\n")[2]
    assert len(examples) >= 2
    for line, purpose in examples:
        assert f"  # {purpose}\n  {line}\n" in printed
        assert len(line) <= 78
        words = shlex.split(re.search(r"busproof ([^)>]*)", line)[1])
        assert name in ("", words[0])
        command(words[0]).read(words[1:])


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("run",)], ids=["all", "run"])
def test_a_help_imports_little(words):
    """It starts in an instant because nothing that it does not need is imported."""
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTS, *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = json.loads(ended.stderr)
    own = {each for each in imported if each.partition(".")[0] == "busproof"}
    parts = ("known_failures", "required", "running", "values")
    parts = (*parts, "running.publishing", "running.run_options")
    commands = {f"busproof.cli.{part}" for part in (*words, *parts)}
    commands |= {"busproof.judging", "busproof.judging.garbage"}  # two lines about `gc`
    assert own <= IMPORTED | ({*commands, "busproof.extras"} if words else set())
    assert IMPORTED <= own
    assert len(imported) <= FEW
    others = {each.partition(".")[0] for each in imported} - set(sys.stdlib_module_names)
    assert {"busproof", "click"} == others


BASH = """
eval "$(busproof completion bash)"
complete -p busproof | grep -q _busproof_completion && echo registered
complete_words() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _busproof_completion busproof && printf '%s\\n' "${COMPREPLY[@]}"
}
complete_words busproof mod
complete_words busproof run --kn
complete_words busproof rules key-2
complete_words busproof check --engine s
"""
ZSH = """
autoload -Uz compinit && compinit -u -D
eval "$(busproof completion zsh)"
[[ ${_comps[busproof]} == _busproof_completion ]] && print registered
_describe() { print -rl -- "${(@)completions_with_descriptions%%:*}" }
compadd() { print -rl -- "${(@)completions}" }
complete_words() { words=("$@") CURRENT=$#; _busproof_completion }
complete_words busproof mod
complete_words busproof run --kn
complete_words busproof rules key-2
complete_words busproof check --engine s
"""
FISH = """
busproof completion fish | source
complete | string match -q '*busproof*' && echo registered
complete -C 'busproof mod'
complete -C 'busproof run --kn'
complete -C 'busproof rules KEY-2'
complete -C 'busproof check --engine s'
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "script"),
    [
        pytest.param(("bash", "--norc", "-c"), BASH, marks=pytest.mark.needs("bash"), id="bash"),
        pytest.param(("zsh", "-f", "-c"), ZSH, marks=pytest.mark.needs("zsh"), id="zsh"),
        pytest.param(("fish", "-c"), FISH, marks=pytest.mark.needs("fish"), id="fish"),
    ],
)
def test_a_shell_completes_commands_options_and_ids(shell, script, tmp_path, monkeypatch):
    """The shell itself runs the script; fish puts a description behind a tab."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    printed = [each.partition("\t")[0] for each in program(script, shell)]
    rules = [f"KEY-{number}" for number in range(20, 27)]
    assert ["registered", "modelcheck", "--known-failures", *rules, "spark"] == printed


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "--edition", "de"], ["de-2021-04"]),
        (["run", "--adapter", "mo"], ["model"]),
        (["audit", "mismatch-accepted-when"], ["mismatch-accepted-when-long"]),
        (["run", "--tier", ""], ["basic", "standard", "premium"]),
        (["rules", "--family", "s"], ["SCHED", "SEQ", "SESS", "SIZE"]),
        (["doctor", "a"], ["amqp"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["--ver"], ["--version"]),
    ],
    ids=" ".join,
)
def test_values_are_completed(monkeypatch, capfd, words, expected):
    """As a shell asks for them, by the environment."""
    monkeypatch.setenv("_BUSPROOF_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["busproof", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    assert 0 == main([])
    assert [f"plain,{each}" for each in expected] == capfd.readouterr().out.splitlines()


def test_runs_are_completed_by_their_names(monkeypatch, tmp_path):
    """Those with a report, and files where no run of this folder is meant."""
    for name, file in (("one", "conformance.json"), ("other", "history.jsonl")):
        folder = tmp_path / "reports" / "runs" / name
        folder.mkdir(parents=True)
        (folder / file).touch()
    monkeypatch.chdir(tmp_path)
    context, parameter = click.Context(command("report")), command("report").params[0]
    assert ["one"] == [each.value for each in values.runs(context, parameter, "o")]
    assert ["file"] == [each.type for each in values.runs(context, parameter, "elsewhere/")]


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"FORCE_COLOR": ""}, False),
    ],
    ids=["neither", "forced", "both", "empty"],
)
def test_the_environment_decides_on_colours(monkeypatch, capsys, variables, coloured):
    """Of a help, and of a table."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert coloured == ("\x1b[" in help_of(capsys))
    assert 0 == main(["rules", "KEY-08"])
    colours = re.findall(r"\x1b\[(?:[0-9;]*;)?3[0-7]m", capsys.readouterr().out)
    assert coloured >= bool(colours)


def test_an_error_becomes_an_annotation(monkeypatch, capsys):
    """Beside the sentence, and apart from the output."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert 2 == main(["rules", "XX-01"])
    with pytest.raises(SystemExit):
        main(["ruls"])
    printed = capsys.readouterr()
    assert "" == printed.out
    first, annotated, second, also = printed.err.splitlines()
    assert first.startswith("busproof: ")
    assert annotated == f"::error title=busproof::{first.removeprefix('busproof: ')}"
    assert also == f"::error title=busproof::{second.removeprefix('busproof: ')}"


def test_an_annotation_is_one_line_whatever_is_in_it(monkeypatch, capsys):
    """Nothing that a bus answers can begin a command of GitHub's."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    github.annotate("warning", "a: b, 100%", "one\r\n::error::two, 100%: 3")
    (line,) = capsys.readouterr().err.splitlines()
    assert "::warning title=a%3A b%2C 100%25::one%0D%0A::error::two, 100%25: 3" == line


def test_nothing_is_annotated_elsewhere(monkeypatch, capsys):
    """A terminal has no use for it."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    github.annotate("error", "title", "text")
    with github.group("title"):
        pass
    assert ("", "") == capsys.readouterr()


@pytest.mark.slow
def test_violations_are_annotated_and_the_table_is_folded(busproof):
    """The JSON of the same verdicts has neither in it."""
    actions = {"environment": {"GITHUB_ACTIONS": "true"}}
    broken = ("run", "--only", "features", "--rule", "KEY-08", "--name", "broken")
    ended = busproof(*broken, "--adapter", "faulty:mismatch-accepted", **actions)
    assert 1 == ended.code
    (annotated,) = [each for each in ended.err.splitlines() if each.startswith("::")]
    assert annotated.startswith("::error title=KEY-08 is violated::Sending a message whose")
    folded = ended.out.partition("::group::")[2].partition("\n::endgroup::\n")
    assert "Partition keys" in folded[0]
    assert "KEY-08" in folded[2]
    again = busproof("check", "reports/runs/broken", "--format", "json", **actions)
    assert 1 == again.code
    assert "KEY-08" in {each["id"] for each in json.loads(again.out)["rules"]}


@pytest.mark.slow
def test_failed_checks_of_an_adapter_are_annotated(monkeypatch, capsys):
    """Each by the id of the check."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert 1 == main(["check-adapter", "misbehaving:Forgets", "--format", "json"])
    printed = capsys.readouterr()
    failed = [one for one in json.loads(printed.out)["checks"] if one["result"] == "failed"]
    lines = printed.err.splitlines()
    assert min(len(failed), github.MOST) == len(lines)
    assert lines[0].startswith(f"::error title={failed[0]['check']} failed::{failed[0]['title']}")


def test_silent_faults_are_annotated(monkeypatch, capsys):
    """A fault that is killed is not."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    found = [
        Audited(id=name, rule="KEY-08", result=result)
        for name, result in (("a", Result.SILENT), ("b", Result.KILLED))
    ]
    monkeypatch.setattr(audit, "_audit_faults", lambda *_: iter(found))
    assert 1 == main(["audit"])
    (line,) = capsys.readouterr().err.splitlines()
    assert "::error title=a is silent::No test of KEY-08 notices this fault." == line


@pytest.mark.parametrize("why", ["", "it has too many executions"])
def test_a_fault_that_a_step_alone_notices_fails_or_says_why(monkeypatch, capsys, why) -> None:
    found = Audited(id="a", rule="KEY-08", result=Result.KILLED, is_judged=False, why=why)
    monkeypatch.setattr(audit, "_audit_faults", lambda *_: iter([found]))
    assert (0 if why else 1) == main(["audit", "mismatch-accepted"])
    printed = capsys.readouterr().out
    assert ("1 of them by a step of a scenario alone, which the judge allows: a" in printed) is (
        not why
    )
    assert why in printed


def test_scenarios_that_fail_by_a_step_beside_judged_ones_are_counted(monkeypatch, capsys) -> None:
    """They fail nothing: the judge accuses the fault's shortest counterexample."""
    found = Audited(
        id="a",
        rule="KEY-08",
        result=Result.KILLED,
        killed_by=("one", "two"),
        scenarios_by_step=("two",),
    )
    monkeypatch.setattr(audit, "_audit_faults", lambda *_: iter([found]))
    assert 0 == main(["audit", "mismatch-accepted"])
    assert "1 of 2 scenarios that failed did so by a step alone" in capsys.readouterr().out


def test_as_many_violations_are_annotated_as_github_keeps(monkeypatch, capsys):
    """The last annotation counts the rest."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    @attrs.frozen
    class Broken:
        id: str
        verdict: Verdict = Verdict.VIOLATED

    @attrs.frozen
    class Judged:
        rules: tuple[Broken, ...]
        edition: str = "de-2021-04"

        @property
        def subject(self) -> "Judged":
            return self

    rules = [Broken(each.id) for each in load().rules]
    for count, lines in ((10, 10), (11, 10)):
        github.annotate_verdicts([Judged(tuple(rules[:count]))])
        assert lines == len(capsys.readouterr().err.splitlines())
    github.annotate_verdicts([Judged(tuple(rules[:12]))])
    assert "::error title=3 more::" in capsys.readouterr().err
