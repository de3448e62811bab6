"""Recognise a user's model and hand the right oracle its numbers."""
