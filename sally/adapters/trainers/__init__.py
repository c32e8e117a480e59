"""Games for trainers of language models: text environments, TRL, verifiers, OpenEnv."""
