"""What a local model represents at a stored decision, compared with what it said and did.

The prompts of stored decisions are rendered again and checked against their hashes (`prompts`), the
residual stream of a local model is read at their last token (`activations`), and linear probes are
fitted to it with folds, baselines and controls (`folds`, `surface`, `probes`). `results` joins what
is represented with what was said and done.
"""
