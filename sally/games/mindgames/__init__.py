"""MindGames: persuasion as planning with a theory of mind (moore2025)."""

from sally.games.mindgames.spec import GAME as GAME
