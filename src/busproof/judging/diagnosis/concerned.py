"""Rules that an event may break besides: they concern what was asked, or what happened before."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.judging.coverage.added_later import OF_REQUESTS, PEEK_IN_SESSION
from busproof.judging.diagnosis.scene import Scene

__all__ = ["concerned"]


def concerned(scene: Scene) -> Iterator[v.RuleId]:
    """Yield further rules that the event may break."""
    entity = scene.entity
    command = scene.event.command
    if entity is None or not entity.settings.partitioned:
        return
    if isinstance(command, v.Peek) and command.session_id is not None:
        yield PEEK_IN_SESSION
    elif type(command) in OF_REQUESTS:
        yield OF_REQUESTS[type(command)]
