"""Make one HTML file of Allure results, without the analytics that Allure adds to every page.

`make allure` runs this. npm installs Allure in the version that tools/allure/package-lock.json
pins.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

HOME: Final = Path(__file__).parent / "allure"
ALLURE: Final = HOME / "node_modules" / "allure"
OLDEST_NODE: Final = 18

ANALYTICS: Final = re.compile(
    r"<script[^>]*\bsrc=[\"'][^\"']*googletagmanager[^\"']*[\"'][^>]*>\s*</script>"
    r"(\s*<script>(?:(?!</script>).)*(?:gtag|dataLayer)(?:(?!</script>).)*</script>)?",
    re.DOTALL,
)
TRACKERS: Final = ("googletagmanager.com/gtag", "gtag('config'", 'gtag("config"')


def fail(words: str) -> None:
    """Exit with an error message."""
    sys.exit(f"tools/allure_page.py: {words}")


def program(name: str) -> str:
    """Return the path of one of Node.js's programs; exit with a message if it is missing."""
    path = shutil.which(name)
    if path is None:
        fail(
            f"{name} is missing; install Node.js {OLDEST_NODE} or later with npm (Debian, Ubuntu: "
            "apt-get install nodejs npm)"
        )
    return str(path)


def install() -> None:
    """Install Allure, unless the pinned version is installed already."""
    wanted = json.loads((HOME / "package.json").read_text(encoding="utf-8"))["dependencies"]
    described = ALLURE / "package.json"
    if described.exists():
        there = json.loads(described.read_text(encoding="utf-8"))["version"]
        if there == wanted["allure"]:
            return
    command = [program("npm"), "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"npm cannot fetch Allure: {done.stderr.strip()}")


def generate(results: list[Path], history: Path | None, folder: Path) -> str:
    """Return the page that Allure generates."""
    command = [program("node"), str(ALLURE / "cli.js"), "generate"]
    options = ["--config", str(HOME / "allurerc.mjs"), "--output", str(folder)]
    variables = {"BUSPROOF_ALLURE_HISTORY": str(history.resolve())} if history else {}
    done = subprocess.run(
        [*command, *options, *(str(result.resolve()) for result in results)],
        cwd=HOME,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    pages = sorted(folder.rglob("index.html"))
    if done.returncode or not pages:
        fail(f"Allure made no page: {(done.stderr or done.stdout).strip()}")
    return pages[0].read_text(encoding="utf-8")


def without_analytics(page: str) -> str:
    """Return the page without analytics; exit with a message if some remain."""
    clean = ANALYTICS.sub("", page)
    left = [tracker for tracker in TRACKERS if tracker in clean]
    if left:
        fail(f"this Allure's page has analytics that are not known: {left[0]}")
    return clean


def main() -> None:
    """Make the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", type=Path, help="folders of Allure results")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--history", type=Path, help="a file that is gone on with")
    arguments = parser.parse_args()
    for folder in arguments.results:
        if not any(folder.glob("*-result.json")):
            fail(f"{folder} has no Allure results")
    install()
    with tempfile.TemporaryDirectory() as scratch:
        page = generate(arguments.results, arguments.history, Path(scratch))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(without_analytics(page), encoding="utf-8")
    print(arguments.output)


if __name__ == "__main__":
    main()
