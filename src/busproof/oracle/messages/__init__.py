"""Requests about messages: send, receive, peek, settle, schedule, with sessions or without."""
