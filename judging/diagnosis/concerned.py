"""Rules that an event may break besides: they concern what was asked, or what happened before."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.scene import Scene

__all__ = ["concerned"]

OF_REQUESTS: Final[dict[type[v.Command], v.RuleId]] = {
    v.Send: "FEAT-05",
    v.Receive: "FEAT-05",
    v.SendBatch: "FEAT-06",
    v.ReceiveBatch: "FEAT-07",
    v.ReceiveDeferred: "FEAT-08",
    v.Peek: "FEAT-09",
    v.RenewLock: "FEAT-10",
    v.Schedule: "FEAT-11",
    v.CancelScheduled: "FEAT-12",
    v.RenewSessionLock: "FEAT-13",
    v.SetSessionState: "FEAT-14",
    v.GetSessionState: "FEAT-15",
    v.ListSessions: "FEAT-16",
}
"""Request to the rule that promises it on a partitioned entity."""


def concerned(scene: Scene) -> Iterator[v.RuleId]:
    """Yield further rules that the event may break."""
    entity, command = scene.entity, scene.event.command
    if entity is None or not entity.settings.partitioned:
        return
    if isinstance(command, v.Peek) and command.session_id is not None:
        yield "FEAT-17"
    elif type(command) in OF_REQUESTS:
        yield OF_REQUESTS[type(command)]
