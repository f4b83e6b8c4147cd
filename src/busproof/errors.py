"""Errors of busproof or its users; refusals by the service are outcomes instead.

Every message names the value, what was allowed and what to do, in one or two sentences.
"""

__all__ = [
    "AdapterError",
    "ConformanceError",
    "HistoryError",
    "SparkError",
    "SpecificationError",
    "TlcError",
    "UsageError",
]


class ConformanceError(Exception):
    """An error that keeps busproof from judging; the command line prints it without a traceback."""


class UsageError(ConformanceError):
    """The user named something that does not exist or does not fit; the user must act."""


class SpecificationError(ConformanceError):
    """The rule catalogue is broken or inconsistent; the editor of `spec/` must act."""


class AdapterError(ConformanceError):
    """The adapter broke, hung or answered nonsense; the adapter's author must act."""


class HistoryError(ConformanceError):
    """A history cannot be read or written; the owner of the file or of the disk must act."""


class TlcError(ConformanceError):
    """TLC cannot be run, or gave no verdict; the owner of the machine or of the spec must act."""


class SparkError(ConformanceError):
    """Spark cannot be started or broke off; the owner of the machine or the cluster must act."""
