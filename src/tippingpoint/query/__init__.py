"""Best responses by asking a model row by row; nothing of it is known but its answers."""
