"""Studies with people: definition, assignment, pages, dashboard, export."""
