"""Spans of time in which something may have happened."""

import attrs


@attrs.frozen
class Window:
    """The earliest and the latest time at which something may have happened."""

    earliest: int
    latest: int

    def shifted(self, duration: int) -> "Window":
        """Return the window `duration` later."""
        return Window(self.earliest + duration, self.latest + duration)

    def lengthened(self, durations: "Window") -> "Window":
        """Return the end of something that begins here and lasts for one of these durations."""
        return Window(self.earliest + durations.earliest, self.latest + durations.latest)
