"""What a client does with messages: send, receive, peek, settle, schedule, in sessions or not."""
