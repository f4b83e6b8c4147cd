"""The official administration client: queues, and what is refused."""

import base64
import functools
from datetime import timedelta

import pytest
from azure.core import exceptions as refused
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus import ServiceBusSubQueue
from azure.servicebus.exceptions import MessagingEntityDisabledError, ServiceBusAuthenticationError
from azure.servicebus.management import AccessRights, AuthorizationRule
from azure.servicebus.management import ServiceBusAdministrationClient as Admin

from ..conftest import Served, administration
from ..test_sdk_queues import completed, sent, taken

pytestmark = pytest.mark.slow


def test_a_queue_is_created_described_changed_and_deleted(
    served: Served, admin: Admin, name: str
) -> None:
    """With the properties that it was created with, and serves meanwhile."""
    made = admin.create_queue(
        name,
        enable_partitioning=True,
        lock_duration=timedelta(seconds=30),
        max_delivery_count=7,
        requires_duplicate_detection=True,
    )
    assert (True, 7) == (made.enable_partitioning, made.max_delivery_count)
    sent(served, name, Message("held"))
    properties = admin.get_queue(name)
    assert (True, timedelta(seconds=30), True) == (
        properties.enable_partitioning,
        properties.lock_duration,
        properties.requires_duplicate_detection,
    )
    assert 1 == admin.get_queue_runtime_properties(name).active_message_count
    properties.max_delivery_count = 4
    admin.update_queue(properties)
    assert 4 == admin.get_queue(name).max_delivery_count
    with pytest.raises(refused.ResourceExistsError):
        admin.create_queue(name)
    assert name in [each.name for each in admin.list_queues()]
    admin.delete_queue(name)
    with pytest.raises(refused.ResourceNotFoundError):
        admin.get_queue(name)
    with pytest.raises(refused.ResourceNotFoundError):
        admin.delete_queue(name)


def test_partitioning_of_a_queue_never_changes(admin: Admin, name: str) -> None:
    made = admin.create_queue(name, enable_partitioning=True)
    made.enable_partitioning = False
    with pytest.raises(refused.HttpResponseError, match="MGMT-"):
        admin.update_queue(made)


def test_undeliverable_message_is_in_the_dead_letter_queue_of_its_source(
    served: Served, admin: Admin, name: str
) -> None:
    """While its destination is disabled, as the real service was seen to do it (FORWARD-FAILED)."""
    end = admin.create_queue(f"{name}-end")
    admin.create_queue(name, forward_to=f"{name}-end")
    end.status = "SendDisabled"
    admin.update_queue(end)
    sent(served, name, Message("stuck"))
    with served.client() as client:
        assert 1 == admin.get_queue_runtime_properties(name).dead_letter_message_count
        place = ServiceBusSubQueue.DEAD_LETTER
        with client.get_queue_receiver(name, sub_queue=place) as receiver:
            (came,) = taken(receiver, 1)
            assert "stuck" == str(came)
            receiver.complete_message(came)
    assert 0 == admin.get_queue_runtime_properties(name).dead_letter_message_count


def test_forwarding_is_changed_and_ended(served: Served, admin: Admin, name: str) -> None:
    """Of messages and of dead letters; described as an address, found in either case."""
    for each in ("Target", "Grave"):
        admin.create_queue(f"{name}{each}")
    queue = admin.create_queue(name, forward_to=f"{name}TARGET")
    address = f"sb://{served.admin.removeprefix('http://')}/{name}"
    assert (f"{address}Target", None) == (queue.forward_to, queue.forward_dead_lettered_messages_to)
    queue.forward_to, queue.forward_dead_lettered_messages_to = None, f"{name}grave"
    admin.update_queue(queue)
    properties = admin.get_queue(name)
    assert (None, f"{address}Grave") == (
        properties.forward_to,
        properties.forward_dead_lettered_messages_to,
    )
    sent(served, name, Message("bad"))
    with served.client() as client:
        with client.get_queue_receiver(name) as receiver:
            receiver.dead_letter_message(taken(receiver)[0], reason="why")
        with client.get_queue_receiver(f"{name}Grave") as receiver:
            assert ["bad"] == [str(each) for each in taken(receiver)]
    properties.forward_dead_lettered_messages_to = f"{name}-nowhere"
    properties.lock_duration = timedelta(seconds=7)
    with pytest.raises(refused.HttpResponseError, match="FWD-29: A destination must exist"):
        admin.update_queue(properties)
    assert timedelta(seconds=60) == admin.get_queue(name).lock_duration
    properties.forward_dead_lettered_messages_to = None
    admin.update_queue(properties)
    assert admin.get_queue(name).forward_dead_lettered_messages_to is None


def test_duplicate_window_expiry_and_size_are_changed(admin: Admin, name: str) -> None:
    queue = admin.create_queue(name, enable_partitioning=True, requires_duplicate_detection=True)
    assert 16 * 1024 == queue.max_size_in_megabytes
    queue.duplicate_detection_history_time_window = timedelta(minutes=2)
    queue.dead_lettering_on_message_expiration = True
    queue.max_size_in_megabytes = 2048
    admin.update_queue(queue)
    properties = admin.get_queue(name)
    assert (timedelta(minutes=2), True, 16 * 2048) == (
        properties.duplicate_detection_history_time_window,
        properties.dead_lettering_on_message_expiration,
        properties.max_size_in_megabytes,
    )
    properties.duplicate_detection_history_time_window = timedelta(days=8)
    with pytest.raises(refused.HttpResponseError, match="DUP-"):
        admin.update_queue(properties)
    assert timedelta(minutes=2) == admin.get_queue(name).duplicate_detection_history_time_window


def test_premium_option_and_keys_of_an_entity(admin: Admin, served: Served, name: str) -> None:
    """The size of messages is refused in Standard; keys are described as they were written."""
    with pytest.raises(refused.HttpResponseError, match="can only be set in the Premium tier"):
        admin.create_queue(name, max_message_size_in_kilobytes=1024)
    key = base64.b64encode(bytes(32)).decode()
    rule = AuthorizationRule(
        type="SharedAccessAuthorizationRule",
        key_name="own",
        claim_type="SharedAccessKey",
        claim_value="None",
        rights=[AccessRights.LISTEN, AccessRights.SEND],
        primary_key=key,
        secondary_key=key,
    )
    admin.create_queue(name, authorization_rules=[rule])
    (key_rule,) = admin.get_queue(name).authorization_rules or []
    assert ("own", key, ["Listen", "Send"]) == (
        key_rule.key_name,
        key_rule.primary_key,
        key_rule.rights,
    )
    with pytest.raises(ServiceBusAuthenticationError), served.client_of("own", key) as client:
        client.get_queue_sender(name).send_messages(Message("never"))


def test_deletion_leaves_entities_whose_names_go_on_after_a_slash(
    served: Served, admin: Admin, name: str
) -> None:
    """They keep their receivers, counts, status and description, and are found in any letters."""
    below, disabled = f"{name}/Below", f"{name}/Disabled"
    admin.create_topic(name)
    admin.create_subscription(name, "s")
    admin.create_queue(below, user_metadata="mine")
    admin.create_queue(disabled)
    admin.update_queue(admin.get_queue(disabled), status="SendDisabled")
    with served.client() as client, client.get_queue_receiver(below) as receiver:
        assert [] == receiver.receive_messages(1, max_wait_time=1)
        admin.delete_topic(name)
        sent(served, below.upper(), Message("m"))
        completed(receiver)
        with pytest.raises(MessagingEntityDisabledError):
            sent(served, disabled, Message("never"))
    assert ("mine", below) == (admin.get_queue(below).user_metadata, admin.get_queue(below).name)


def test_queue_has_no_list_of_subscriptions(admin: Admin, name: str) -> None:
    admin.create_queue(name)
    with pytest.raises(refused.ResourceNotFoundError, match="is not a topic"):
        list(admin.list_subscriptions(name))


def test_lists_have_all_pages(admin: Admin, name: str) -> None:
    """A page names the next one, of queues, topics, subscriptions and rules."""
    admin.create_topic(name)
    for number in range(5):
        admin.create_queue(f"{name}/q{number}")
        admin.create_topic(f"{name}/t{number}")
        admin.create_subscription(name, f"s{number}")
        admin.create_rule(name, "s0", f"r{number}")
    for list_all, least in (
        (admin.list_queues, 5),
        (admin.list_topics, 6),
        (functools.partial(admin.list_subscriptions, name), 5),
        (functools.partial(admin.list_rules, name, "s0"), 6),
    ):
        whole = [each.name for each in list_all(max_page_size=100)]
        assert least <= len(whole)
        assert whole == [each.name for each in list_all(max_page_size=2)]


def test_disabled_entity_refuses_clients_as_disabled(
    served: Served, admin: Admin, name: str
) -> None:
    """Who is attached is let go, and who comes is refused; what is there stays."""
    queue = admin.create_queue(name)
    with served.client() as client, client.get_queue_sender(name) as sender:
        sender.send_messages(Message("kept"))
        queue.status = "SendDisabled"
        admin.update_queue(queue)
        assert "SendDisabled" == admin.get_queue(name).status
        with pytest.raises(MessagingEntityDisabledError):
            sender.send_messages(Message("lost"))
        with client.get_queue_receiver(name) as receiver:
            assert ["kept"] == [str(each) for each in receiver.peek_messages(5)]
        queue.status = "Disabled"
        admin.update_queue(queue)
        with pytest.raises(MessagingEntityDisabledError):
            client.get_queue_receiver(name).receive_messages(1, max_wait_time=1)
        queue.status = "ReceiveDisabled"
        admin.update_queue(queue)
        with client.get_queue_sender(name) as again:
            again.send_messages(Message("too"))
        queue.status = "Active"
        admin.update_queue(queue)
        with client.get_queue_receiver(name) as receiver:
            assert {"kept", "too"} == {str(each) for each in taken(receiver, 2)}
    queue.status = "Sleepy"
    with pytest.raises(refused.HttpResponseError, match="ReceiveDisabled"):
        admin.update_queue(queue)


def test_the_namespace_shows_its_tier(admin: Admin) -> None:
    assert "Standard" == admin.get_namespace_properties().messaging_sku


def test_listen_right_allows_no_administration(served: Served) -> None:
    text = served.connection_string.replace("RootManageSharedAccessKey", "listener")
    client = Admin.from_connection_string(text.replace("SAS_KEY_VALUE", "ears"), retry_total=0)
    client._impl._client._base_url = served.admin
    with client, pytest.raises(refused.ClientAuthenticationError, match="Manage"):
        client.list_queues().next()


def test_a_name_is_not_longer_than_names_are(served: Served) -> None:
    with administration(served) as client:
        with pytest.raises(refused.HttpResponseError, match="at most 260"):
            client.create_queue("n" * 261)
        client.delete_queue(client.create_queue("n" * 260).name)


def test_a_wrong_key_is_refused(served: Served) -> None:
    with (
        administration(served, key="wrong") as client,
        pytest.raises(refused.ClientAuthenticationError),
    ):
        client.get_queue("plain")
