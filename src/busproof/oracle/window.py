"""Time windows: the bounds of an unknown moment, in microseconds."""

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
        """Return the end of something that begins in this window and has one of these durations."""
        return Window(self.earliest + durations.earliest, self.latest + durations.latest)

    def widened(self, slack: int) -> "Window":
        """Return the window widened on both sides by the error of a clock."""
        return Window(self.earliest - slack, self.latest + slack)

    @classmethod
    def around(cls, moment: int, slack: int) -> "Window":
        """Return the window of a moment on a clock that may be off by up to `slack`."""
        return cls(moment - slack, moment + slack)
