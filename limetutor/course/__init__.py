"""What the book is made of: exercises and their judging, figures, experiments, data, research."""
