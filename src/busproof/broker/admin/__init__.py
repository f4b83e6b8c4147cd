"""Administration over HTTP: entities, the health check, and control for tests."""
