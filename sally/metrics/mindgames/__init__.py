"""What is measured of a game of persuasion (moore2025), a measure a file."""
