"""The pages of the studio. Each knows the context and no other page."""
