"""What an API key looks like, so that none is written where only its name belongs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

KEY_NAME_RULE = "letters, digits and underscores, such as OPENAI_API_KEY"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_LONG_RUN = re.compile(r"[A-Za-z0-9]{20,}")
_SECRET_FIELD = re.compile(
    r"(?:^|[\W_])(?:api[\W_]?key|secret|pass(?:word|wd|phrase)|authorization|(?:access|auth|bearer)[\W_]?token)$",
    re.IGNORECASE,
)

_SHAPES = re.compile(
    r"""
      (?<![A-Za-z0-9]) (?:
          sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}                # OpenAI, Anthropic, OpenRouter, DeepSeek
        | AIza[A-Za-z0-9_-]{30,}                                   # Google
        | (?:gsk|hf|r8|fw)_[A-Za-z0-9]{20,}                        # Groq, Hugging Face, Replicate, Fireworks
        | (?:xai|pplx|nvapi|csk|glpat)-[A-Za-z0-9_-]{20,}          # xAI, Perplexity, NVIDIA, Cerebras, GitLab
        | gh[pousr]_[A-Za-z0-9]{30,} | github_pat_[A-Za-z0-9_]{30,}
        | (?:AKIA|ASIA)[A-Z0-9]{16}                                # AWS
        | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}   # JSON web token
        | Bearer\s+[A-Za-z0-9._~+/-]{20,}=*
      )
      | -----BEGIN\ (?:[A-Z]+\ )*PRIVATE\ KEY-----
      | (?<=://)[^\s/:@]+:[^\s/@]+(?=@)                            # password inside an address
      | (?<=[?&])(?:api[-_]?key|key|access_token|token|sig)=[^\s&]{8,}  # key inside an address
    """,
    re.VERBOSE,
)


def looks_like_key(text: str) -> bool:
    """True where some part of the text has the shape of a secret: a provider's key, a token, a private key,
    an address with a password or key in it."""
    return _SHAPES.search(text) is not None


def without_keys(text: str, mark: str) -> str:
    """The text with everything that has the shape of a secret replaced by ``mark``."""
    return _SHAPES.sub(lambda _: mark, text)


def key_name_problem(name: str) -> str | None:
    """Why ``name`` cannot be the name of a key, or ``None``. The answer does not repeat ``name``: it may be a key."""
    # A key without a known prefix (Azure: 32 hex digits) is one long run with digits in it; names are words.
    runs = _LONG_RUN.findall(name)
    if looks_like_key(name) or any(any(c.isdigit() for c in run) for run in runs):
        return (
            "this looks like the key itself; only its name belongs here. Put the key into an environment variable "
            f"or the system's key store, and write its name: {KEY_NAME_RULE}"
        )
    if not _NAME.fullmatch(name):
        return f"this is no name of a key; a name has {KEY_NAME_RULE}"
    return None


def secrets_in(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """(JSON path, why) of everything in a JSON tree that looks like a secret. Values are not repeated."""
    if isinstance(tree, str):
        if looks_like_key(tree):
            yield path or "the text", "holds what looks like an API key or password"
    elif isinstance(tree, dict):
        for name, value in tree.items():
            at = f"{path}.{name}" if path else str(name)
            if looks_like_key(str(name)):
                yield path or "the document", "has a name in it that looks like an API key"
            elif isinstance(value, str) and value and _SECRET_FIELD.search(str(name)) and key_name_problem(value):
                yield at, "has the name of a secret and a value that is no name of a key"
            else:
                yield from secrets_in(value, at)
    elif isinstance(tree, (list, tuple)):
        for place, value in enumerate(tree):
            yield from secrets_in(value, f"{path}[{place}]")
