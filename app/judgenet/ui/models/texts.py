"""What the table of pairs says: the titles of its columns and what its cells say in words."""

from __future__ import annotations

# Columns of the pairs that are loaded
CHOSEN = "Chosen"
ID = "Id"
QUESTION = "Question"
TASK = "Task"
CHARACTERS = "chars"
LENGTH_OF_A = "Length of A in characters"
LENGTH_OF_B = "Length of B in characters"
NETWORK = "net"
NETWORK_VERDICT = "Network verdict"
HUMAN = "human"
HUMAN_LABEL = "Human label"
AGREEMENT = "Agreement of network and people"

# Columns of the preview of an import
RESPONSE = "Response"
RESPONSE_A = "Response A"
RESPONSE_B = "Response B"
LABEL = "Label"

# Cells
A = "A"
B = "B"
TIE = "tie"
AGREE = "agree"
DIFFER = "differ"
IS_CHOSEN = "chosen"
NOT_CHOSEN = "not chosen"

NONE = "none"
NETWORK_AND_PEOPLE_AGREE = "Network and people agree"
NETWORK_AND_PEOPLE_DIFFER = "Network and people differ"
