"""An episode in progress: the turn engine, the drivers that supply the players' answers, replay and
playback."""
