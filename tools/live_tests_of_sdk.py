"""Runs the live tests of azure-servicebus on a broker, and compares with known failures.

The tests come with the source distribution of the client and are not changed; what they need of
Azure is stood in for by `tools/clients/live_tests.py`. Usage: live_tests_of_sdk.py [PART], which is
administration or data. What fails and is not in `tools/clients/live_tests.toml`, and what is there
and does not fail, ends it with 1.
"""

import os
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from xml.etree import ElementTree as ET

import attrs
from clients_tried import HERE, PLACES, run, served

VERSION: Final = "7.15.0"
PLACE: Final = PLACES / f"azure-servicebus-live-{VERSION}"
KNOWN: Final = HERE / "live_tests.toml"
NEEDED: Final = (
    f"azure-servicebus=={VERSION}",
    "aiohttp",
    "azure-common",
    "azure-core-tracing-opentelemetry",
    "certifi",
    "opentelemetry-sdk",
    "pytest",
    "pytest-asyncio",
    "pytest-timeout",
    "pytest-xdist",
    "requests",
    "setuptools>=77",
    "websocket-client",
)
PARTS: Final = {
    "administration": ("-n", "0", "mgmt_tests"),
    "data": ("-n", "5", "--ignore=test_tracing.py", "--ignore=mgmt_tests", "."),
}
"""What is run of the tests, and how many beside each other: those of data wait most of the time.

Those of administration delete all entities that there are, so each part has a broker of its own.
"""
LONGEST: Final = 240
"""How many seconds a test may take."""


@attrs.frozen
class Failure:
    """A failure that is known.

    Attributes:
        test: its file, class and name, without parameters.
        reason: why it fails.
        sometimes: whether it may also pass.
    """

    test: str
    reason: str
    sometimes: bool = False


def main(parts: list[str]) -> int:
    """Run the tests, print what differs, and return 1 if something does."""
    tests, ran, failed = installed(), set[str](), set[str]()
    for part in parts or PARTS:
        some, wrong = results(tried(tests, PARTS[part]))
        ran |= some
        failed |= wrong
    said = differences(ran, failed, known(KNOWN.read_text(encoding="utf-8")))
    print(f"{len(ran)} tests ran, {len(failed)} failed")
    print("\n".join(said) or "all failures are known")
    return int(bool(said))


def tried(tests: Path, options: Iterable[str]) -> str:
    """Run some of the tests on a broker of their own; returns JUnit's XML of it."""
    with TemporaryDirectory() as folder, served(Path(folder)) as where:
        report = Path(folder) / "report.xml"
        command = (
            *(str(PLACE / "bin" / "python"), "-m", "pytest", "-p", "live_tests", "-q"),
            *("-c", str(tests.parent / "pyproject.toml"), "--rootdir", str(tests)),
            *("-o", "asyncio_mode=auto", f"--timeout={LONGEST}", "--tb=line"),
            *(f"--junitxml={report}", *options),
        )
        environment = os.environ | where | {"PYTHONPATH": str(HERE)}
        subprocess.run(command, cwd=tests, env=environment, check=False)  # noqa: S603 - our own
        return report.read_text(encoding="utf-8")


def known(text: str) -> list[Failure]:
    """The failures that are known, as a text of TOML has them."""
    return [Failure(**each) for each in tomllib.loads(text).get("failure", [])]


def results(report: str) -> tuple[set[str], set[str]]:
    """The tests that ran, and those that failed, as JUnit's XML has them."""
    ran, failed = set[str](), set[str]()
    for case in ET.fromstring(report).iter("testcase"):  # noqa: S314 - written by pytest just now
        if case.find("skipped") is not None:
            continue
        where = case.get("classname", "").removeprefix("tests.")
        test = f"{where}.{case.get('name', '').partition('[')[0]}"
        ran.add(test)
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(test)
    return ran, failed


def differences(
    ran: Collection[str], failed: Collection[str], expected: Iterable[Failure]
) -> list[str]:
    """What fails and is not known, and what is known and does not fail though it ran."""
    listed = {each.test: each for each in expected}
    said = [f"fails, and is not known: {test}" for test in sorted(set(failed) - set(listed))]
    for test, each in sorted(listed.items()):
        if test in ran and test not in failed and not each.sometimes:
            said.append(f"passes, and is known to fail ({each.reason}): {test}")
    return said


def installed() -> Path:
    """Make the environment and unpack the tests, if they are not there; returns their folder."""
    python, tests = PLACE / "bin" / "python", PLACE / f"azure_servicebus-{VERSION}" / "tests"
    if not tests.exists():
        run(sys.executable, "-m", "venv", str(PLACE))
        run(str(python), "-m", "pip", "install", "-q", *NEEDED)
        how = ("--no-deps", "--no-build-isolation", "--no-binary", "azure-servicebus")
        wanted = f"azure-servicebus=={VERSION}"
        run(str(python), "-m", "pip", "download", "-q", *how, "-d", str(PLACE), wanted)
        with tarfile.open(PLACE / f"azure_servicebus-{VERSION}.tar.gz") as source:
            source.extractall(PLACE, filter="data")
    return tests


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
