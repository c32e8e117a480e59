"""Importers of records in the formats of other tools."""
