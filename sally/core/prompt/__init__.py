"""From a view to a prompt: words, words packs, strategies and the model interface."""
