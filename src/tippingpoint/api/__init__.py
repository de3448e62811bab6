"""The questions: a model on data, and what may be asked of it."""
