"""What a game is: rules, menus, probes, metrics, cards and boards, as types."""
