"""The answers: frozen, storable, and what a fresh one can still be asked."""
