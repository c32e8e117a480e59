"""Live matches: people, bots and models at one match, rebuilt from the database after a restart."""
