"""Types of parts that a game or a paper may define and that the core does not use."""
