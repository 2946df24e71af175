"""Runs in the frozen program before all else: wordcloud imports matplotlib (30 MB with what it brings) for colours that
JudgeNet does not use, and asks for its version alone."""

import sys
import types

stand_in = types.ModuleType("matplotlib")
stand_in.__version__ = "3"
sys.modules["matplotlib"] = stand_in
