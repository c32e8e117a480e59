"""The episode record: events, validation, scenes and what importers share."""
