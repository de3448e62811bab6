"""What stands between a user's columns and a model: scalers, encoders, categories."""
