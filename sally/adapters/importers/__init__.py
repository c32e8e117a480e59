"""Games that were recorded elsewhere, as episodes of ours."""
