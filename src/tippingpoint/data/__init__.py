"""What a user's tables are: frames, columns, labels, and which rows belong together."""
