"""Linear models: exact."""
