"""What the rules are asked of: a history's events, brought together by what they are about.

Each frame costs one shuffle, and each is used by many rules.
"""

from functools import cached_property
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline import messages
from busproof.pipeline.ordering import RECEIVES, ordered
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["SETTLEMENTS", "TERMINAL", "Frames", "locks", "sends"]

TERMINAL: Final = ("Complete", "Abandon", "DeadLetter", "Defer")
"""Requests that use a lock up."""

SETTLEMENTS: Final = (*TERMINAL, "RenewLock")


class Frames:
    """The frames of one history, or of many in one table; each is made once.

    Args:
        events: in the published schema.
        config: as `entities` makes it.
        held: what the history was held to.
    """

    def __init__(self, events: DataFrame, config: DataFrame, held: Held) -> None:
        self.held = held
        self.config = config
        self.base = ordered(events, held)

    @cached_property
    def sends(self) -> DataFrame:
        """Every send and scheduling to an entity whose settings are sure, with these."""
        return self.of_plain(
            self.base.where(sf.col("op").isin("Send", "Schedule")).select(
                "history_id",
                "seq",
                "op",
                "entity",
                "owner",
                "dead",
                "lo",
                "hi",
                "t_lo",
                "t_hi",
                "transaction",
                "delay",
                "sent",
                "outcome",
                "error",
                "witness",
            )
        )

    @cached_property
    def peeks(self) -> DataFrame:
        """Every answer to a peek, with what it showed."""
        shown = (sf.col("op") == "Peek") & (sf.col("outcome") == "Peeked")
        return self.base.where(shown).select(
            "history_id",
            "seq",
            "entity",
            "owner",
            "dead",
            "lo",
            "hi",
            "t_lo",
            "t_hi",
            "session_id",
            "seen",
        )

    @cached_property
    def gives(self) -> DataFrame:
        """Every message that a receive was given."""
        given = sf.col("op").isin(*RECEIVES) & sf.col("seen").isNotNull()
        locked = sf.col("mode") == "peek-lock"
        rows = self.base.where(given).select("*", sf.explode("seen").alias("v"))
        return rows.select(
            "history_id",
            "entity",
            "owner",
            sf.col("v.body").alias("body"),
            sf.when(locked, sf.col("v.lock_token")).alias("token"),
            sf.struct(
                "seq",
                "lo",
                "hi",
                "t_lo",
                "t_hi",
                "dead",
                "connection",
                "op",
                sf.col("session_id").alias("asked"),
                (~locked).alias("deleting"),
                sf.when(locked, sf.col("v.locked_until")).alias("until"),
                "v",
            ).alias("give"),
        )

    @cached_property
    def locks(self) -> DataFrame:
        """One row a lock token: the receives that told it, and what was done with it."""
        # What is asked in a transaction may take effect with its commit, or never.
        alone = sf.col("transaction").isNull()
        acts = self.base.where(sf.col("op").isin(*SETTLEMENTS)).select(
            "history_id",
            "entity",
            "owner",
            sf.col("lock_token").alias("token"),
            sf.struct(
                "seq",
                "lo",
                sf.when(alone, sf.col("hi")).otherwise(sf.lit(NEVER)).alias("hi"),
                "t_lo",
                sf.when(alone, sf.col("t_hi")).otherwise(sf.lit(NEVER)).alias("t_hi"),
                "op",
                "taken",
                (alone & sf.col("outcome").isin("Done", "Renewed")).alias("done"),
                (alone & (sf.col("outcome") == "Refused")).alias("refused"),
                sf.coalesce("reason", sf.lit("")).alias("reason"),
            ).alias("act"),
        )
        both = self.gives.where(sf.col("token").isNotNull()).unionByName(
            acts, allowMissingColumns=True
        )
        return both.groupBy("history_id", "entity", "owner", "token").agg(
            sf.collect_list(sf.when(sf.col("give").isNotNull(), sf.struct("body", "give"))).alias(
                "gives"
            ),
            sf.collect_list("act").alias("acts"),
        )

    @cached_property
    def settled(self) -> DataFrame:
        """The locks of entities whose settings are sure."""
        return self.of_plain(self.locks)

    @cached_property
    def messages(self) -> DataFrame:
        """One row a message of a queue; `messages.gathered` says what it holds."""
        return messages.gathered(
            sends=self._accepted,
            locks=self.locks,
            gives=self.gives,
            peeks=self.peeks,
            cancels=self._cancels,
            config=self.config.where("plain").drop("plain"),
            held=self.held,
        )

    @property
    def _accepted(self) -> DataFrame:
        """Every message that was sent or scheduled, if it was not refused."""
        accepted = sf.col("op").isin("Send", "Schedule") & sf.col("taken")
        return self.base.where(accepted).select(
            "history_id",
            "owner",
            sf.col("sent.body").alias("body"),
            sf.struct(
                "seq",
                "lo",
                "hi",
                "t_lo",
                "t_hi",
                "op",
                "transaction",
                "witness",
                "sent",
                "delay",
                "told_number",
                (~sf.col("lost")).alias("sure"),
            ).alias("send"),
        )

    @property
    def _cancels(self) -> DataFrame:
        """Every request to cancel, with the message that was scheduled under that number."""
        number = sf.col("told_number")
        scheduled = self.base.where((sf.col("op") == "Schedule") & number.isNotNull()).select(
            "history_id", "owner", number.alias("number"), sf.col("sent.body").alias("body")
        )
        asked = self.base.where(sf.col("op") == "CancelScheduled").select(
            "history_id",
            "owner",
            sf.col("sequence_number").alias("number"),
            sf.struct("seq", "lo", "hi", "t_lo", "t_hi", "outcome", "error", "taken").alias(
                "cancel"
            ),
        )
        return asked.join(scheduled, ["history_id", "owner", "number"], "inner").drop("number")

    @cached_property
    def transactions(self) -> DataFrame:
        """One row a transaction: how often it was begun, and what may have ended it."""
        ops = ("BeginTransaction", "CommitTransaction", "RollBackTransaction")
        commit, back = sf.col("op") == ops[1], sf.col("op") == ops[2]
        return (
            self.base.where(sf.col("op").isin(*ops) & sf.col("taken"))
            .groupBy("history_id", "transaction")
            .agg(
                sf.count(sf.when(sf.col("op") == ops[0], 1)).alias("begun"),
                sf.min(sf.when(commit, sf.col("lo"))).alias("commit_lo"),
                sf.min(sf.when(commit, sf.col("seq"))).alias("commit_seq"),
                sf.min(sf.when(back & ~sf.col("lost"), sf.col("lo"))).alias("back_lo"),
                sf.min(sf.when(back & ~sf.col("lost"), sf.col("seq"))).alias("back_seq"),
            )
        )

    def of_plain(self, rows: DataFrame) -> DataFrame:
        """The rows that are about an entity whose settings are sure, with these."""
        sure = self.config.where("plain").drop("plain")
        return rows.join(sure, ["history_id", "owner"], "inner")


def sends(frames: Frames) -> DataFrame:
    """The frame of what rules ask of a send alone; all of them share it."""
    return frames.sends


def locks(frames: Frames) -> DataFrame:
    """The frame of what rules ask of a lock alone; all of them share it."""
    return frames.settled
