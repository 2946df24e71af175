"""JudgeNet: networks of LLM judges, and how far their verdicts can be trusted."""

import os

__version__ = "0.1.0"

# The matrices here are small. Spread over threads, their products mostly wait for one another: learning from LLMBar's
# recorded judges took 30 times the processor time, and stalled where other programs were at work. NumPy reads this when
# it is first imported; a setting of the user's own holds.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
