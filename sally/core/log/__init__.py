"""The episode record: events, validation, scenes and code shared by importers."""
