"""Agents shared with other programs: a partner of Sally's there, an agent of theirs as a player."""
