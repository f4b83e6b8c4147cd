"""The bus on Spark as an implementation under test: the rules as expressions, folded by Spark."""

from busproof.adapters.spark.adapter import BULK_SETTINGS, SETTINGS, SparkAdapter
from busproof.adapters.spark.namespaces import READINGS, fresh, read_answer, request

__all__ = [
    "BULK_SETTINGS",
    "READINGS",
    "SETTINGS",
    "SparkAdapter",
    "fresh",
    "read_answer",
    "request",
]
