"""Run studies: seat players, play missing episodes, report progress."""
