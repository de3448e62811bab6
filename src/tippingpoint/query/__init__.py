"""Best responses by querying a model row by row; nothing of it is known but its replies."""
