"""Run the live tests of azure-servicebus on a broker, and compare with the known failures.

The tests are those of the client's source distribution, unchanged; `tools/clients/live_tests.py`
replaces the parts of Azure that they need. Usage: live_tests_of_sdk.py [PART], where PART is
administration or data. The exit code is 1 if a test fails that is not in
`tools/clients/live_tests.toml`, or if a test listed there passes.
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
"""Options of pytest for each part; tests of data mostly wait, so several run at once.

Tests of administration delete all existing entities, so each part has a separate broker.
"""
LONGEST: Final = 900
"""Maximum time for one test, in seconds; some wait for eight minutes."""


@attrs.frozen
class Failure:
    """A known failure.

    Attributes:
        test: file, class and name, without parameters.
        reason: why the test fails.
        sometimes: whether the test may also pass.
    """

    test: str
    reason: str
    sometimes: bool = False


def main(parts: list[str]) -> int:
    """Run the tests, print the differences, and return 1 if there are any."""
    tests, ran, failed = installed(), set[str](), set[str]()
    for part in parts or PARTS:
        some, wrong = results(tried(tests, PARTS[part]))
        ran |= some
        failed |= wrong
    complaints = differences(ran, failed, known(KNOWN.read_text(encoding="utf-8")))
    print(f"{len(ran)} tests ran, {len(failed)} failed")
    print("\n".join(complaints) or "all failures are known")
    return int(bool(complaints))


def tried(tests: Path, options: Iterable[str]) -> str:
    """Run tests on a separate broker; return JUnit's XML."""
    with TemporaryDirectory() as folder, served(Path(folder)) as where:
        report = Path(folder) / "report.xml"
        command = (
            *(str(PLACE / "bin" / "python"), "-m", "pytest", "-p", "live_tests", "-q"),
            *("-c", str(tests.parent / "pyproject.toml"), "--rootdir", str(tests)),
            *("-o", "asyncio_mode=auto", f"--timeout={LONGEST}", "--tb=line"),
            *(f"--junitxml={report}", *options),
        )
        environment = os.environ | where | {"PYTHONPATH": str(HERE)}
        subprocess.run(command, cwd=tests, env=environment, check=False)
        return report.read_text(encoding="utf-8")


def known(text: str) -> list[Failure]:
    """Return the known failures, from the text of a TOML file."""
    return [Failure(**entry) for entry in tomllib.loads(text).get("failure", [])]


def results(report: str) -> tuple[set[str], set[str]]:
    """Return the tests that ran and the tests that failed, from JUnit's XML."""
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
    """Return unknown failures, and known failures whose tests ran and passed."""
    listed = {failure.test: failure for failure in expected}
    complaints = [f"fails, and is not known: {test}" for test in sorted(set(failed) - set(listed))]
    for test, failure in sorted(listed.items()):
        if test in ran and test not in failed and not failure.sometimes:
            complaints.append(f"passes, and is known to fail ({failure.reason}): {test}")
    return complaints


def installed() -> Path:
    """Make the environment and unpack the tests, if they are missing; return their folder."""
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
