"""What the book is made of: examples, data, exercises, figures."""
