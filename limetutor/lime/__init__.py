"""The real `lime`: read its explainers, predict what they print."""
