"""The bias lab in the studio: what is chosen, what it found, and the pairs behind it."""
