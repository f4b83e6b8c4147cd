"""Messages over HTTP, in the manner of Service Bus's REST interface."""
