"""The results: frozen, picklable, stored as JSON, and what a fresh one can still work out."""
