"""Types that define a game: rules, menus, probes, metrics, cards and boards."""
