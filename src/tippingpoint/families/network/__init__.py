"""PyTorch modules: searched by their gradients, bounded from below where the layers allow it, exact along a column."""
