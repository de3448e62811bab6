"""From what people have to a table of alternatives: logs of evaluations are read and joined, or variants are made and asked."""
