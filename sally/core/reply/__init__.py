"""From a reply to an answer."""
