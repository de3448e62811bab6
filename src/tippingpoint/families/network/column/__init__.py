"""Networks along one column, where their outputs are lines: exact."""
