"""What the library's discovery is itself measured by: landscapes, and finders that compete on them."""
