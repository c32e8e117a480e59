"""From a view to a prompt: words, word packs, strategies and the model interface."""
