"""Administration over HTTP: health, what a test needs under `/busproof/`, and entities."""
