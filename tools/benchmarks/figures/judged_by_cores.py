"""Judge a history on this many cores, after a short one for warm-up; print the seconds.

Spark and its Python processes get no other cores, so on a single core they take turns.
"""

import os
import sys
import time

from busproof.pipeline.checking import check
from busproof.pipeline.session import spark_session
from busproof.pipeline.sources import find_source


def main() -> None:
    """Judge both files, and measure the second one by the clock."""
    cores, short, measured = int(sys.argv[1]), *sys.argv[2:]
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < cores:
        sys.exit(f"{cores} cores are wanted, and this process may use {len(allowed)}")
    os.sched_setaffinity(0, allowed[:cores])
    spark = spark_session(master=f"local[{cores}]")
    check(spark, find_source(short))
    before = time.perf_counter()
    check(spark, find_source(measured))
    print(time.perf_counter() - before)
    spark.stop()


if __name__ == "__main__":
    main()
