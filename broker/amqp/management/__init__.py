"""Request/response operations on a link to `$management`."""
