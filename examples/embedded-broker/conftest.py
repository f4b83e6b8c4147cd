"""The fixtures of busproof's embedded broker."""

pytest_plugins = ["busproof.broker.fixtures"]
