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

    def widened(self, slack: int) -> "Window":
        """Return the window as a clock may report it that is off by the slack."""
        return Window(self.earliest - slack, self.latest + slack)

    @classmethod
    def around(cls, moment: int, slack: int) -> "Window":
        """Return when something happened that a clock reports that is off by the slack."""
        return cls(moment - slack, moment + slack)
