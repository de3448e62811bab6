"""What people look at. Everything here draws from the plain summary of a result and knows nothing else of it."""
