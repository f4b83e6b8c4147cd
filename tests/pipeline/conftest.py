"""One Spark for all tests of the pipeline, small and quiet."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from spark_samples import SMALL

from busproof.pipeline.session import spark_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = spark_session(master="local[1]", conf=SMALL)
    yield session
    session.stop()
