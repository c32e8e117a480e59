"""What `verifiers` finds under the id `sally-verifiers`: it looks for modules of one name only."""

from sally.adapters.trainers.verifiers import GameEnv, Games, Post

__all__ = ["GameEnv", "Games", "Post"]
