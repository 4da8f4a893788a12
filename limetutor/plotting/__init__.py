"""One look for every picture, and the pictures of results."""
