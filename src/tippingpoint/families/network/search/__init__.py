"""Best responses of a network by its gradients: an upper bound on the stability."""
