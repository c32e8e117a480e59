"""Running studies: who sits down, what is missing, and how far along we are."""
