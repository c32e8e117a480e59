"""The experimenter's explorer of stored and running episodes."""
