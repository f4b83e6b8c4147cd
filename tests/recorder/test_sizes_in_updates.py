"""Which size a client names when it sends back a description with a change."""

import pytest

from busproof import vocabulary as v
from busproof.recorder.administration import Said, command_of

SPACE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"


@pytest.mark.parametrize(
    ("megabytes", "partitioned", "expected"),
    [(16_384, "true", 1), (49_152, "true", 3), (2_048, "true", 2), (16_384, "false", 16)],
)
def test_size_of_a_partitioned_entity_is_that_of_each_partition(
    megabytes: int, partitioned: str, expected: int
) -> None:
    """Its description has that of all, and clients send it back."""
    fields = (
        f"<MaxSizeInMegabytes>{megabytes}</MaxSizeInMegabytes>"
        f"<EnablePartitioning>{partitioned}</EnablePartitioning>"
    )
    body = (
        '<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
        f'<QueueDescription xmlns="{SPACE}">{fields}</QueueDescription></content></entry>'
    )
    said = Said("PUT", "/q?api-version=2021-05", {"if-match": "*"}, body.encode())
    command = command_of(said, set())
    assert isinstance(command, v.UpdateQueue)
    assert expected == command.max_size
