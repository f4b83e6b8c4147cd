"""Administration over HTTP: health, control for tests under `/busproof/`, and entities."""
