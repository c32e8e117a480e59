"""Module that `verifiers` imports for the environment id `sally-verifiers`."""

from sally.adapters.trainers.verifiers import GameEnv, Games, Post

__all__ = ["GameEnv", "Games", "Post"]
