"""What is computed from episodes: rows, profiles, comparisons, cross-play, power, audits."""
