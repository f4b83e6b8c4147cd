"""Conformance of clients: programs that use Service Bus are given tasks, and judged on the wire."""
