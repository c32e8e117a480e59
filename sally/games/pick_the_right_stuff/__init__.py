"""Pick the Right Stuff (tang2024): name the box where a user believes the item to be."""
