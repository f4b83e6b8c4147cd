"""The filter that names a session, in the two forms in which official clients write it."""

from typing import Any

import pytest
from proton import Described, Message, symbol, ulong
from proton.reactor import Filter

from . import raw
from .conftest import Served

pytestmark = pytest.mark.slow

NAME = symbol("com.microsoft:session-filter")
CODE = ulong(0x137_0000_000C)


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "next"])
@pytest.mark.parametrize("descriptor", [None, CODE, NAME], ids=["JavaScript", "Go", "by name"])
def test_session_is_named_in_the_form_in_which_it_was_asked_for(
    served: Served, name: str, descriptor: object, is_named: bool
) -> None:
    """Go was refused, and each of the two clients reads its own form alone."""

    def form(value: str | None) -> Any:
        return value if descriptor is None else Described(descriptor, value)

    with raw.logged_in(served.port) as connection:
        connection.create_sender("sessions").send(Message(b"waits", group_id=name))
        wanted = Filter({NAME: form(name if is_named else None)})
        receiver = connection.create_receiver("sessions", name=name, options=wanted)
        filters = receiver.link.remote_source.filter
        filters.rewind()
        filters.next()
        assert {NAME: form(name)} == filters.get_object()
        receiver.receive()
        receiver.accept()
