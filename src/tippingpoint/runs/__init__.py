"""From what people have to a table of alternatives: logs of evaluations read and joined, or variants made, asked about and judged."""
