"""Generated mutants: places, operators and contexts of changes to the model's rules."""
