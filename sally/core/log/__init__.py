"""The episode record: events, validation, scenes and shared parts of importers."""
