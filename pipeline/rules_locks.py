"""What becomes of locks: a token that is used up, has ended or was never given settles nothing."""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as sf

from busproof.pipeline.frames import TERMINAL, locks
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _lost_settles_nothing(*ops: str) -> Callable[[Held], Judgement]:
    """These requests are refused where the lock is surely lost.

    It is where no receive gave the token (and none was left unanswered, which may have), where
    another request has used it up, or where the lock's duration is over since it was given, unless
    a settlement that waited for the end of its transaction may have kept it (LOCK-IN-TRANSACTION).
    """

    def judge(held: Held) -> Judgement:
        unheard = (sf.size("gives") == 0) & (sf.col("lost_receives") == 0)
        ended = sf.element_at("gives", 1)["give"]["t_hi"] + sf.col("lock") + held.slack
        timed = (sf.size("gives") == 1) & ~sf.col("requires_session")

        def renewed(act: Column) -> Column:
            return sf.exists(
                "acts",
                lambda by: (
                    (by["op"] == "RenewLock")
                    & by["taken"]
                    & (by["seq"] != act["seq"])
                    & (by["lo"] <= act["hi"])
                ),
            )

        def kept(act: Column) -> Column:
            """Whether a request in a transaction, or one without answer, may have kept the lock."""
            return sf.exists("acts", lambda by: (by["hi"] == NEVER) & (by["lo"] <= act["hi"]))

        def used_up(act: Column) -> Column:
            return sf.exists(
                "acts",
                lambda by: (
                    by["done"]
                    & by["op"].isin(*TERMINAL)
                    & (by["seq"] != act["seq"])
                    & ((by["hi"] < act["lo"]) | (act["done"] & act["op"].isin(*TERMINAL)))
                ),
            )

        def is_lost(act: Column) -> Column:
            late = timed & (act["t_lo"] > ended) & ~renewed(act) & ~kept(act)
            return unheard | ((sf.size("gives") == 1) & used_up(act)) | late

        lost = sf.filter("acts", lambda act: act["op"].isin(*ops) & is_lost(act))
        wrong = sf.filter(lost, lambda act: act["done"])
        last = sf.get(wrong, sf.size(wrong) - 1)
        given = sf.transform("gives", lambda give: give["give"]["seq"])
        others = sf.transform(
            sf.filter("acts", lambda act: act["done"] & (act["seq"] != last["seq"])),
            lambda act: act["seq"],
        )
        return Judgement(
            situation=sf.size(lost) > 0,
            broken=sf.size(wrong) > 0,
            seqs=sf.concat(given, others, sf.array(last["seq"])),
            expected="a refusal: the lock is lost",
            actual=sf.concat(
                last["op"], sf.lit(" with the lock '"), sf.col("token"), sf.lit("' succeeded")
            ),
        )

    return judge


_NEEDS = frozenset({"lock_token", "seen", "settings"})

QUERIES = (
    Query(
        rule="LIFE-06",
        frame=locks,
        needs=_NEEDS,
        judge=_lost_settles_nothing("Complete", "Abandon"),
    ),
    Query(rule="LOCK-05", frame=locks, needs=_NEEDS, judge=_lost_settles_nothing("RenewLock")),
    Query(
        rule="LOCK-06",
        frame=locks,
        needs=_NEEDS,
        judge=_lost_settles_nothing("DeadLetter", "Defer"),
    ),
)
