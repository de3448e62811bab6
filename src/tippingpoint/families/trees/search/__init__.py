"""The best places of samples among the cells of trees, and bounds on what any place is worth."""
