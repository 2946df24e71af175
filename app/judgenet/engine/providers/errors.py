"""What the errors of all providers mean.

The forms differ, but hardly collide, so one reader serves all: gateways pass on the errors of others anyway.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judgenet.core.evaluation import Reason
from judgenet.core.probabilities import SCORES
from judgenet.engine.limits import parse_duration
from judgenet.engine.providers import common


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """What a provider says of an error.

    ``words`` are its message and codes in lower case. ``status`` stands for the HTTP status where the error came
    without one. ``wait`` are seconds that it asks to wait.
    """

    message: str = ""
    words: str = ""
    code: str = ""
    param: str = ""
    status: int | None = None
    wait: float | None = None
    per_day: bool = False
    per_minute: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """What an attempt that failed means.

    ``retry``: may go better next time. ``slow``: the same, and the endpoint is asked too much. ``unreachable``:
    the same, and nothing was there to ask. ``refused``: a parameter is refused, the call may go without.
    ``blind``: the model takes no pictures. ``fail``: this call cannot go. ``stop``: no call to the endpoint can,
    ``stop_model``: none to this model.
    """

    action: Literal["retry", "slow", "unreachable", "refused", "blind", "fail", "stop", "stop_model"]
    reason: Reason
    text: str
    status: int | None = None
    wait: float | None = None
    parameter: str | None = None


_STATUS_OF = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "billing_error": 402,
    "not_found_error": 404,
    "request_too_large": 413,
    "invalid_request_error": 400,
    "resource_exhausted": 429,
    "unavailable": 503,
    "internal": 500,
    "deadline_exceeded": 504,
    "invalid_argument": 400,
    "failed_precondition": 400,
    "permission_denied": 403,
    "unauthenticated": 401,
    "not_found": 404,
}

_QUOTA_CODES = re.compile(
    r"insufficient_(?:quota|balance|credits?|funds)|billing_hard_limit_reached|billing_not_active|billing_error"
    r"|credits?_exhausted|quota_exhausted|payment_required"
)
_NO_MONEY_WORDS = re.compile(
    r"insufficient (?:balance|credits?|funds|quota)|credit balance is too low|out of (?:credits?|call volume quota)"
    r"|(?:no|not enough|more) credits\b|quota will be replenished|account is not active|payment required"
)
_QUOTA_WORDS = re.compile(
    r"exceeded (?:your|the) (?:current|monthly|daily|free) (?:quota|usage|spend)|check your (?:plan|billing)"
    r"|billing (?:hard )?limit|spend(?:ing)? limit"
)
_PER_MINUTE_WORDS = re.compile(
    r"per[ _-]?(?:min(?:ute)?|sec(?:ond)?)\b|\b[rt]pm\b|rate[ _]limit[ _](?:reached|exceeded|error)"
    r"|too many requests|try again in|retry (?:after|in)"
)
_WAIT_WORDS = re.compile(r"(?:try again|retry|wait) (?:after|in|for)?\s*(\d[\d.]*\s*(?:ms|[smhd])[\dhms.]*)")
_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (?:length|window|size)"
    r"|prompt (?:is )?too long|too many (?:input )?tokens|token count .{0,40}exceeds|input (?:is )?too long"
    r"|exceeds? the maximum (?:number of )?(?:input )?tokens|maximum (?:prompt|input) length|request_too_large"
)
_FILTER = re.compile(
    r"content_filter|content[ _]polic(?:y|ies)|content management policy|responsibleaipolicyviolation|moderation"
    r"|input was flagged|flagged by|safety system|prohibited_content|data_inspection_failed|content exists risk"
    r"|unsafe content|sensitive content"
)
_NO_MODEL = re.compile(
    r"model_not_found|deploymentnotfound|invalid_model|unknown_model|^model:|\bmodels?/\S+ is not found"
    r"|\bmodel\b.{0,160}?(?:not found|not exist|n't exist|not a valid|is not available)"
    r"|(?:unknown|invalid|no such|unsupported) model\b|not a valid model|no endpoints found for"
    r"|deployment .{0,60}does not exist"
)
_BAD_KEY = re.compile(
    r"api_key_invalid|api key not valid|invalid[ _]api[ _]key|incorrect api key|api key expired|x-api-key"
)
_UNSUPPORTED = re.compile(
    r"unsupported|n[o']t support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not accept"
    r"|extra inputs|extra_forbidden|additional propert|deprecated|unavailable|no longer|not implemented|not available"
    r"|cannot be (?:used|set|specified)|must be (?:set to )?1\b|only .{0,60}?(?:default|supported|allowed|accepted)"
    r"|may only|must be verified|not (?:yet )?enabled"
)
_BLIND = re.compile(
    r"(?:images?|image_url|image inputs?|vision|multi-?modal\w*)\W.{0,60}?(?:not (?:yet |currently )?"
    r"(?:support|enabled|available|allowed)|unsupported|only supported by)"
    r"|(?:(?:does|do|can|could|may|is|are)(?:\s?not|n't)|cannot|unable to) "
    r"(?:support|accept|process|take|handle|see|able to \w+) (?:any |the )?(?:image|vision|picture|multi-?modal)"
    r"|unsupported (?:content|part|message)? ?(?:type)?.{0,20}image|not a (?:multi-?modal|vision)|at most 0 images?"
    r"|no endpoints found that support image|unknown variant .{0,3}image|\bmmproj\b|required for image input"
    r"|content\b.{0,40}(?:must be a (?:valid )?string|str type expected|should be a valid string)"
    r"|invalid content type.{0,20}image|only supports? text"
    r"|only text(?: content| input)?.{0,20}(?:supported|allowed|accepted)"
)
"""How servers say that a model takes no pictures: OpenAI, Azure, Anthropic, Gemini, vLLM, llama.cpp, Ollama, LM Studio,
OpenRouter, DeepSeek, Groq."""
_BLIND_STATUS = frozenset({400, 404, 415, 422, 500, 501})
_ONE_PICTURE = re.compile(
    r"image (?:format|type|size|data|file|dimension)|media.?type|mime.?type|could not process|invalid image|corrupt"
    r"|too (?:large|small|many images)"
)
"""A fault of one picture says nothing about the model."""
_RANGE = re.compile(
    r"\bbetween\b|less than|greater than|at (?:most|least)|too (?:large|small|high|low|big)|out of range|exceeds"
)
_ROOM = re.compile(
    r"\b(?:max_(?:completion_|output_)?tokens|maxoutputtokens)\b.{0,120}?"
    r"(?:too large|at most|less than|maximum allowed|supported range|out of range|exceed)"
)
_MEMORY = re.compile(r"requires more (?:system |gpu )?memory|more (?:system|gpu) memory \(")
"""How Ollama says that a model and its context do not fit into memory."""
_FULL_QUEUE = re.compile(r"maximum pending requests exceeded")
_SCHEMA_LIMITS = re.compile(r"minimum|maximum|exclusivem|multipleof|m(?:in|ax)(?:length|items)|numeric|constraints?\b")


BLIND = "This model takes no pictures: choose one that sees, or leave out the pairs with pictures."
"""What to do where a model takes no pictures."""


def error_info(body: bytes) -> ErrorInfo:
    """Reads the body of an error in any of the usual forms."""
    try:
        data = common.parse_json(body)
        return error_of(data)
    except (ValueError, RecursionError):
        return ErrorInfo(message=_plain(body), words=body[:4096].decode("utf-8", "replace").lower())


def error_of(data: Any) -> ErrorInfo:
    """Like :func:`error_info`, for a body that was parsed already."""
    if isinstance(data, list) and data:
        data = data[0]
    if not isinstance(data, dict):
        return ErrorInfo(message=str(data)[:500], words=str(data)[:4096].lower())
    inner = data.get("error")
    if isinstance(inner, str):
        inner = {**data, "message": inner}
    if not isinstance(inner, dict):
        errors = data.get("errors")
        inner = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else data
    message = inner.get("message") or inner.get("detail") or inner.get("msg") or ""
    if isinstance(message, (list, dict)):
        message = _details(message)
    names = [str(inner.get(name)) for name in ("code", "type", "status") if inner.get(name) is not None]
    if isinstance(inner.get("innererror"), dict):
        names.append(str(inner["innererror"].get("code", "")))
    metadata = inner.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(raw, str) and raw:
        message = f"{message}: {raw}"
    codes = " ".join(names).lower()
    message = " ".join(str(message)[:8192].split())
    param = str(inner.get("param") or "").lower()
    wait, per_day, per_minute = _google_details(inner.get("details"))
    return ErrorInfo(
        message=message,
        # Not the whole body: some servers repeat the request in it, and a prompt may speak of anything.
        words=f"{message} | {codes} | {param}".lower(),
        code=codes,
        param=param,
        status=_status(names),
        wait=wait,
        per_day=per_day,
        per_minute=per_minute,
    )


def _details(message: Any) -> str:
    """The messages of a list of validation errors, in the form of FastAPI and similar servers."""
    if isinstance(message, dict):
        message = message.get("detail", message)
    if not isinstance(message, list):
        return str(message)
    parts = []
    for item in message:
        if isinstance(item, dict):
            place = ".".join(str(step) for step in item.get("loc", ()))
            parts.append(f"{place}: {item.get('msg', '')} ({item.get('type', '')})")
        else:
            parts.append(str(item))
    return "; ".join(parts)


def _google_details(details: Any) -> tuple[float | None, bool, bool]:
    """(seconds to wait, a limit per day was hit, a limit per minute was hit) of google.rpc error details."""
    wait: float | None = None
    quotas = ""
    for detail in details if isinstance(details, list) else ():
        if not isinstance(detail, dict):
            continue
        if isinstance(detail.get("retryDelay"), str):
            wait = parse_duration(detail["retryDelay"])
        violations = detail.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, dict):
                quotas += f" {violation.get('quotaId', '')} {violation.get('quotaMetric', '')}".lower()
    return wait, bool(re.search(r"per_?day", quotas)), bool(re.search(r"per_?minute", quotas))


def _status(names: list[str]) -> int | None:
    for name in names:
        if name.isdigit() and 400 <= int(name) < 600:
            return int(name)
    for name in names:
        if name.lower() in _STATUS_OF:
            return _STATUS_OF[name.lower()]
    return None


def _plain(body: bytes) -> str:
    """The message of a body that is not JSON: the text itself, or the title of an HTML page."""
    text = body[:8192].decode("utf-8", "replace")
    if re.match(r"\s*<", text):
        title = re.search(r"<(title|h1)[^>]*>(.*?)</\1>", text, re.I | re.S)
        return "an HTML page" + (f" ({' '.join(title[2].split())})" if title else "")
    return " ".join(text.split())


def refused_parameter(
    info: ErrorInfo, sent: frozenset[str], patterns: Mapping[str, re.Pattern[str]], schema: Any
) -> str | None:
    """Which of the sent parameters an error refuses, ``None`` where it is about something else.

    ``"schema_limits"`` stands for the limits within the schema.
    """
    named: list[tuple[int, str]] = []
    for name in sent:
        pattern = patterns.get(name)
        if pattern is None:
            continue
        if info.param and pattern.search(info.param):
            named.append((-1, name))
        elif hit := pattern.search(info.words):
            # "Reasoning models take no temperature" is about the temperature, whatever comes first.
            named.append((hit.start() + (len(info.words) if name == common.REASONING else 0), name))
    for _, name in sorted(named):
        if name == common.REASONING:
            # Another way of sending it is tried, or none. The word may also be part of a model's name.
            return None if _NO_MODEL.search(info.words) and not info.param else name
        if name == common.SCHEMA:
            return "schema_limits" if _SCHEMA_LIMITS.search(info.words) and common.has_limits(schema) else common.SCHEMA
        if name == SCORES:
            return name  # a range that is refused is tried with fewer alternatives
        if _UNSUPPORTED.search(info.words) and not _RANGE.search(info.message.lower()):
            return name
    # With the room for thinking the limit exceeds this model's longest answer.
    return common.REASONING if common.REASONING in sent and _ROOM.search(info.words) else None


def classify(
    status: int,
    info: ErrorInfo,
    wait: float | None,
    sent: frozenset[str] = frozenset(),
    patterns: Mapping[str, re.Pattern[str]] | None = None,
    schema: Any = None,
    pictures: bool = False,
) -> Fault:
    """The meaning of an answer with an error status. ``wait`` are the seconds to wait by its headers; ``pictures``: the
    request had pictures."""
    if info.wait is not None:
        wait = info.wait if wait is None else max(wait, info.wait)
    words = info.words

    def fault(action: Any, reason: Reason, text: str, parameter: str | None = None) -> Fault:
        return Fault(action, reason, text, status, wait, parameter)

    if pictures and status in _BLIND_STATUS and _BLIND.search(words) and not _ONE_PICTURE.search(words):
        return fault("blind", Reason.BAD_REQUEST, BLIND)
    if status in (400, 402, 403, 429) and _is_quota(status, info):
        return fault("stop", Reason.QUOTA, "The quota or credit is used up: top it up, or wait until it is renewed.")
    if status == 429:
        return fault("slow", Reason.RATE_LIMITED, "The endpoint got more requests than it allows.")
    if status == 529:
        return fault("slow", Reason.SERVER_ERROR, "The endpoint is overloaded.")
    if status in (408, 504):
        return fault("retry", Reason.TIMEOUT, "The endpoint took too long.")
    if status == 500 and _MEMORY.search(words):
        return fault("stop_model", Reason.BAD_REQUEST, "Choose a smaller model or a shorter context.")
    if status == 503 and _FULL_QUEUE.search(words):
        return fault("slow", Reason.SERVER_ERROR, "The server's queue is full.")
    if status in (409, 425) or status >= 500:
        return fault("retry", Reason.SERVER_ERROR, "The endpoint failed.")
    if status in (400, 403, 422) and _FILTER.search(words):
        return fault("fail", Reason.FILTERED, "The endpoint's content filter refuses this text.")
    if status == 401 or (status == 400 and _BAD_KEY.search(words)):
        return fault("stop", Reason.AUTH, "The key is missing or not accepted.")
    if status == 413 or (status in (400, 422) and _CONTEXT.search(words)):
        return fault("fail", Reason.CONTEXT_LENGTH, "The text is longer than the model's context.")
    if status in (400, 404, 422):
        parameter = refused_parameter(info, sent, patterns or {}, schema)
        if parameter is not None:
            return fault("refused", Reason.BAD_REQUEST, "The endpoint refuses a parameter.", parameter)
    if status in (400, 403, 404) and _NO_MODEL.search(words):
        reason = Reason.AUTH if status == 403 else Reason.BAD_REQUEST
        return fault("stop_model", reason, "The endpoint has no such model for this key: check its name.")
    if status in (401, 403):
        return fault("stop", Reason.AUTH, "The key may not do this.")
    if status == 407:
        return fault("stop", Reason.NETWORK, "The proxy wants a name and a password.")
    if status in (404, 405):
        return fault("stop", Reason.BAD_REQUEST, "Nothing answers chat requests at this address: check the base URL.")
    if 300 <= status < 400:
        return fault("stop", Reason.BAD_REQUEST, "The endpoint has moved: write its new address as base URL.")
    return fault("fail", Reason.BAD_REQUEST, "The endpoint refuses the request.")


def _is_quota(status: int, info: ErrorInfo) -> bool:
    """Whether a quota is used up, so that a short wait does not help. Messages about throttling often mention plans and
    billing as well: what says "per minute" is throttling."""
    if status == 402 or info.per_day or _QUOTA_CODES.search(info.code) or _NO_MONEY_WORDS.search(info.words):
        return True
    if info.per_minute or info.wait is not None or _PER_MINUTE_WORDS.search(info.words):
        return False
    return bool(_QUOTA_WORDS.search(info.words))


def stated_wait(info: ErrorInfo) -> float | None:
    """The seconds to wait that an error states ("try again in 7m12s")."""
    match = _WAIT_WORDS.search(info.words)
    return parse_duration(match[1].rstrip(".")) if match else None
