"""What the project knows beforehand: instances, builds, price books and claims, as data."""
