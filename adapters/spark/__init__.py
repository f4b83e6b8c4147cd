"""The Spark pipeline as an implementation under test: the rules as expressions, folded by Spark."""

from busproof.adapters.spark.adapter import SETTINGS, SparkAdapter
from busproof.adapters.spark.namespaces import READINGS, fresh, observed, request

__all__ = ["READINGS", "SETTINGS", "SparkAdapter", "fresh", "observed", "request"]
