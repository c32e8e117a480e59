"""MindGames: persuasion as planning with a theory of mind (moore2025)."""
