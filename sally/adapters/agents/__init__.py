"""Agents shared with other programs: Sally's partners as their agents, and their agents as
players."""
