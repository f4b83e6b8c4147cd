"""Whether a log has all frames of a connection: a frame that presumes a missing one tells."""

import attrs

from busproof.recorder import frames as f
from busproof.recorder.frames import Frame

__all__ = ["Watch"]

RECEIVES = True
"""Role of a link's receiving end, as its Attach has it."""


@attrs.define
class _Link:
    is_answered: bool = False
    first: int = 0
    given: int = 0


@attrs.define
class _Session:
    names: dict[tuple[str, bool], _Link] = attrs.field(factory=dict)
    ours: dict[int, _Link] = attrs.field(factory=dict)
    theirs: dict[int, _Link] = attrs.field(factory=dict)
    sent: set[int] = attrs.field(factory=set)
    answered: set[int] = attrs.field(factory=set)
    got: set[int] = attrs.field(factory=set)


class Watch:
    """The frames of one connection, until one shows that another is missing."""

    def __init__(self) -> None:
        self._ours: dict[int, _Session] = {}
        self._theirs: dict[int, _Session] = {}
        self._reason = ""
        self._links: list[_Link] = []
        self._hidden = 0

    def hide(self) -> None:
        """Note that a message of the client is in the log without its frame."""
        self._hidden += 1

    def see(self, frame: Frame, *, by_client: bool) -> None:
        """Note a frame."""
        if self._reason:
            return
        try:
            self._reason = (self._check_client if by_client else self._check_service)(frame)
        except KeyError:
            self._reason = "a session or a link was used that was not opened"

    def end(self) -> str:
        """Return what is missing, for the middle of a sentence; nothing if all may be there."""
        if not self._reason and not all(link.is_answered for link in self._links):
            return "a link was never answered"
        return self._reason

    def _check_client(self, frame: Frame) -> str:
        fields = frame.fields
        if frame.code == f.BEGIN:
            self._ours[frame.channel] = _Session()
            return ""
        if frame.code == f.CLOSE:
            return ""
        session = self._ours[frame.channel]
        if frame.code == f.ATTACH:
            link = session.ours[fields[1]] = session.names[fields[0], fields[2]] = _Link()
            self._links.append(link)
        elif frame.code == f.TRANSFER:
            if not session.ours[fields[0]].is_answered:
                return "a message was sent over a link that was not answered"
            if fields[1] is not None:
                session.sent.add(fields[1])
        elif frame.code == f.FLOW and fields[4] is not None and fields[5] is not None:
            link = session.ours[fields[4]]
            if (fields[5] - link.first) % 2**32 > link.given:
                return "a client counts more messages than were given"
        elif frame.code == f.DISPOSITION and fields[0] is RECEIVES:
            last = fields[1] if fields[2] is None else fields[2]
            if not {fields[1], last} <= session.got:
                return "a message was settled that was not given"
        return ""

    def _check_service(self, frame: Frame) -> str:
        fields = frame.fields
        if frame.code == f.BEGIN:
            self._theirs[frame.channel] = self._ours[fields[0]]
            return ""
        if frame.code == f.CLOSE:
            return ""
        session = self._theirs[frame.channel]
        if frame.code == f.ATTACH:
            link = session.theirs[fields[1]] = session.names[fields[0], not fields[2]]
            link.is_answered = True
            link.first = fields[9] or 0
        elif frame.code == f.TRANSFER:
            link = session.theirs[fields[0]]
            if fields[1] is not None:
                session.got.add(fields[1])
            link.given += not fields[5]
        elif frame.code == f.DISPOSITION and fields[0] is RECEIVES:
            session.answered.add(fields[1])
            if len(session.answered - session.sent) > self._hidden:
                return "a message was answered that was not sent"
        return ""
