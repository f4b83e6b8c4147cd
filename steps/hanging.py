"""The end of a process whose adapter hangs.

An adapter in Python may wait for ever, and nothing in its process could stop it. So a thread looks
at how long it has owed an answer, and ends the process, which costs the scenario that it played.
"""

import os
import threading
from typing import Final

from busproof.judging.scenario_outcome import seconds_owed

__all__ = ["HUNG", "end_if_hung"]

HUNG: Final = 124
"""Exit code of a process that was ended because its adapter hung."""

LOOKS: Final = 0.5
"""Time between two looks, in seconds."""


def end_if_hung(seconds: float) -> None:
    """End this process as soon as the adapter has owed an answer for so many seconds."""
    never = threading.Event()

    def watch() -> None:
        while not never.wait(LOOKS):
            if seconds_owed() > seconds:
                os._exit(HUNG)

    threading.Thread(target=watch, daemon=True).start()
