"""What every answer can do."""
