"""Qt item models over plain values."""
