"""Models that can only be asked: what they return, and what it means."""
