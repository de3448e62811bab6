"""What no search can beat: lower bounds on the stability of a network."""
