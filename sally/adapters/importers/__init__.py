"""Records in layouts of other tools, as episodes of ours."""
