"""One Spark for all tests of the pipeline, small and quiet."""

import os
from collections.abc import Iterator

import pytest
import recorded_cases as cases
from corrupting import CORRUPTIONS
from pyspark.sql import SparkSession
from spark_samples import SMALL, Sample, at_work

from busproof.pipeline.session import spark_session

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEEDS = 60 if FULL else 2
TRIES = 10 if FULL else 1
CLIENTS = (1, 4, 16) if FULL else (4,)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = spark_session(master="local[1]", conf=SMALL)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def sample(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Valid histories, some with answers lost or without room, and such with one event changed.

    At gate size they are asked by the rules that the changes break, and `test_faults.py` asks the
    others; at full size all are asked of both.
    """
    seeds = range(SEEDS)
    histories = [*cases.clean("round-robin", seeds), *cases.clean("hostile", seeds)]
    histories += [*cases.lossy(seeds), *cases.crowded(seeds)]
    for kind in CORRUPTIONS:
        for clients in CLIENTS:
            histories += cases.corrupted(kind, clients, TRIES)
    (changed,) = cases.corrupted("never sent", 4, 1)
    histories.append(cases.created_twice(changed))
    path = tmp_path_factory.mktemp("sample") / "history.jsonl"
    return Sample(spark, path, histories, rules=None if FULL else at_work())
