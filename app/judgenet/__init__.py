"""JudgeNet: networks of LLM judges, and how far their verdicts can be trusted."""

__version__ = "0.1.0"
