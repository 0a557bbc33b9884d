"""Views: states drawn as pictures and text as a seat may see them, and pages that show a search."""
