"""Runs first in the frozen program: replaces matplotlib (30 MB with its dependencies), which wordcloud imports for
colours that JudgeNet does not use, and of which it needs only the version."""

import sys
import types

stand_in = types.ModuleType("matplotlib")
stand_in.__version__ = "3"
sys.modules["matplotlib"] = stand_in
