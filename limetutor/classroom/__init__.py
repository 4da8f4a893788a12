"""From the book to a class: assignments, how they are graded, what a lecturer takes away.

``command`` is `limetutor class`.
"""
