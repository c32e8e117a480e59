"""Games for trainers of language models: text environments and verifiers."""
