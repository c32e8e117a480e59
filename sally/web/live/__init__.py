"""Live matches of people, bots and models, rebuilt from the database after a restart."""
