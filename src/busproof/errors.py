"""What goes wrong on our side or the user's; what the service refuses is an `Outcome` instead.

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
    """What keeps busproof from judging; the command line prints it without a traceback."""


class UsageError(ConformanceError):
    """The user asked for something that does not exist or does not fit: the user must act."""


class SpecificationError(ConformanceError):
    """The rule catalogue is broken or inconsistent: whoever edited `spec/` must act."""


class AdapterError(ConformanceError):
    """The adapter broke, hung or answered nonsense: the adapter's author must act."""


class HistoryError(ConformanceError):
    """A history cannot be read or written: whoever made the file, or owns the disk, must act."""


class TlcError(ConformanceError):
    """TLC cannot be run, or gave no verdict: whoever owns the machine or the spec must act."""


class SparkError(ConformanceError):
    """Spark cannot be started or broke off: whoever owns the machine or the cluster must act."""
