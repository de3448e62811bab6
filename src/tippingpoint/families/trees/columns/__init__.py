"""What the columns of a model are made of: from the thresholds of trees back to the raw columns of the user."""
