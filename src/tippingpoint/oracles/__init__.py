"""One file a model family, all answering the same question: the best response of every sample at a price."""
