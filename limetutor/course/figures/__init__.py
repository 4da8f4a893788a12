"""The book's figures, one module a topic, all in the one style of :mod:`limetutor.plotting.style`."""
