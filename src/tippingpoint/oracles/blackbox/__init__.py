"""Models that can only be asked: candidates tried one by one, within a budget of calls."""
