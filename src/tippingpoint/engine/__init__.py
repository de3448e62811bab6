"""Where the blocks of data live: partitions of rows, what is known of all of them, and the oracle of each."""
