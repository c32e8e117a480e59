"""Games as PettingZoo and Gymnasium environments."""
