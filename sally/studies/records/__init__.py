"""Records of real models that ship with Sally, as bundles."""
