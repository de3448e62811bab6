"""Tables of alternatives: no model, only what each costs and what the loss would be; exact."""
