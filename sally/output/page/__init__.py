"""One page of HTML for a study, whole in itself: tables, plots, episodes, where it came from."""
