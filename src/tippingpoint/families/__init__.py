"""Who finds best responses: one folder a family of models."""
