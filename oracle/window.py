"""Spans of time in which something may have happened."""

import attrs

__all__ = ["Window"]


@attrs.frozen
class Window:
    """The earliest and the latest moment at which something may have happened."""

    earliest: int
    latest: int

    def shifted(self, duration: int) -> "Window":
        """The window `duration` later."""
        return Window(self.earliest + duration, self.latest + duration)

    def lengthened(self, durations: "Window") -> "Window":
        """When what begins here ends, if it lasts as long as one of these durations."""
        return Window(self.earliest + durations.earliest, self.latest + durations.latest)
