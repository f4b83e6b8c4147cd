"""Entities that a recording leaves out, because it has not enough of them to be judged."""

from busproof import vocabulary as v

__all__ = ["LeftOut"]


class LeftOut:
    """The entities that are left out, with those that get their messages."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._targets: dict[str, set[str]] = {}

    def leave(self, name: str) -> None:
        """Leave out an entity, and all that its messages are forwarded to."""
        waiting = [_owner(name)]
        while waiting:
            one = waiting.pop()
            if one not in self._names:
                self._names.add(one)
                waiting += self._targets.get(one, ())

    def has(self, command: v.Command) -> bool:
        """Return whether a request is about an entity that is left out."""
        name = getattr(command, "queue", None) or getattr(command, "topic", None)
        if name is None:
            return False
        name = _owner(name)
        if targets := v.destinations(command):
            found = {_owner(target) for target in targets}
            self._targets.setdefault(name, set()).update(found)
            if name in self._names:
                for target in found:
                    self.leave(target)
        return name in self._names


def _owner(path: str) -> str:
    """Return the queue or topic that a path belongs to."""
    return path.partition("/subscriptions/")[0].partition("/$")[0]
