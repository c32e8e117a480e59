"""An episode in progress: the turn engine, its drivers, replay and playback."""
