"""Neural networks: searched along a path of prices, bounded from both sides, exact for one hidden layer of ReLUs."""
