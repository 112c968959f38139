"""How model families write their turns: `family` is the data, `compose` makes a tag of it."""
