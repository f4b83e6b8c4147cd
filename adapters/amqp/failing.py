"""What can go wrong between a question and its answer."""

__all__ = ["Lost", "Rejected", "Silent", "Unreachable"]


class Rejected(Exception):  # noqa: N818 - the service's answer, not an error of ours
    """The service refused a request, a link or a session.

    Args:
        condition: the AMQP error condition, or the status of an HTTP answer as `http:404`.
        description: what it says to people.
    """

    def __init__(self, condition: str, description: str = "") -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition
        self.description = description


class Silent(Exception):  # noqa: N818 - what a request may come to
    """No answer came in the time that was given."""


class Lost(Exception):  # noqa: N818 - what may become of a connection
    """The connection is gone; what was asked last may have taken effect."""


class Unreachable(Lost):
    """There is no connection to be had; nothing was asked."""
