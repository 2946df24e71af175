"""Parts of the page Labels."""
