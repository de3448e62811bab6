"""The mathematics: pure NumPy, no model, no feature name, no file."""
