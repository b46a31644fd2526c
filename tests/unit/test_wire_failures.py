"""Whatever a vendor answers instead of an answer, a person reads what is wrong and what to do."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import ContextTooLong, ModelError, Rejected, Unavailable
from hermes.sdk.failures import Where, classify, malformed, retry_after

WHERE = Where("OpenAI", "https://api.openai.com/v1", "gpt-9", "OPENAI_API_KEY", "sk-proj-verysecretkey")

PROMPT = "prompt is too long: 210000 tokens > 200000 maximum"
LENGTH = {"code": "context_length_exceeded", "message": "maximum context length is 8,192 tokens"}
LOCAL = {"type": "exceed_context_size_error", "message": "exceeds the available context size (4096)"}
GOOGLE = {"code": 400, "message": "API key not valid", "details": [{"reason": "API_KEY_INVALID"}]}
BUSY = "You exceeded your current quota, please check your plan and billing details. Please retry in 12.5s."
SEEN: list[tuple[int, Any, str]] = [
    (401, {"error": {"message": "Incorrect API key provided: sk-proj-verysecretkey."}}, "auth"),
    (403, {"error": {"message": "Country not supported"}}, "auth"),
    (400, [{"error": GOOGLE}], "auth"),
    (401, "", "auth"),
    (402, {"error": {"message": "Insufficient credits", "code": 402}}, "billing"),
    (429, {"error": {"type": "insufficient_quota", "message": "You exceeded your current quota"}}, "billing"),
    (400, {"type": "error", "error": {"message": "Your credit balance is too low"}}, "billing"),
    (429, [{"error": {"message": BUSY, "details": [{"retryDelay": "12.5s"}]}}], "rate"),
    (429, {"error": {"message": "Quota exceeded for quota metric 'Requests per day'"}}, "quota"),
    (429, {"error": {"message": "Rate limit reached"}}, "rate"),
    (429, "<html>slow down</html>", "rate"),
    (503, {"message": "no healthy upstream"}, "overloaded"),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
    (500, {"error": {"message": "The model is overloaded. Please try again later."}}, "overloaded"),
    (500, {"error": "boom"}, "server"),
    (502, "<html><head><title>502 Bad Gateway</title></head></html>", "server"),
    (504, "", "timeout"),
    (524, "", "timeout"),
    (404, {"error": {"message": "The model `gpt-9` does not exist", "code": "model_not_found"}}, "not_found"),
    (404, {"detail": "Not Found"}, "not_found"),
    (400, {"error": LENGTH}, "context"),
    (400, {"error": {"message": PROMPT}}, "context"),
    (400, {"error": LOCAL}, "context"),
    (413, {"error": {"type": "request_too_large"}}, "context"),
    (400, {"error": {"code": "content_policy_violation", "message": "flagged"}}, "policy"),
    (400, {"detail": [{"loc": ["body", "tools"], "msg": "field required"}]}, "bad_request"),
    (422, {"object": "error", "message": "bad", "type": "invalid_request_error"}, "bad_request"),
    (418, "teapot", "bad_request"),
    (0, {"error": {"code": 503, "message": "Provider returned error"}}, "overloaded"),
    (0, {"error": {"type": "invalid_request_error", "message": "x"}}, "bad_request"),
    (200, {"error": {"code": "429", "message": "x"}}, "rate"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind"), SEEN)
def test_what_vendors_say(status: int, body: Any, kind: str) -> None:
    raw = body if isinstance(body, str) else json.dumps(body)
    error = classify(status, raw.encode(), {}, WHERE)
    assert error.kind == kind
    assert "OpenAI (https://api.openai.com)" in str(error) or "gpt-9" in str(error)
    assert "verysecret" not in str(error)
    assert "{" not in str(error)


def test_a_wait_inside_the_body_is_obeyed() -> None:
    error = classify(429, [{"error": {"message": BUSY, "details": [{"retryDelay": "12.5s"}]}}], {}, WHERE)
    assert isinstance(error, Unavailable)
    assert error.retry_after == 12.5


def test_only_what_may_pass_is_asked_again() -> None:
    kinds = {kind: type(classify(status, body, {}, WHERE)) for status, body, kind in SEEN}
    again = {kind for kind, error in kinds.items() if error is Unavailable}
    assert again == {"rate", "overloaded", "server", "timeout"}
    assert kinds["context"] is ContextTooLong
    assert {kinds[kind] for kind in kinds if kind not in again | {"context"}} == {Rejected}


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("This model's maximum context length is 8192 tokens, however you requested 9000", 8192),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 200000),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576),
        ("exceeds the available context size (4096 tokens)", 4096),
        ("context_length_exceeded", 0),
    ],
)
def test_the_window_is_learned_from_the_refusal(message: str, limit: int) -> None:
    error = classify(400, {"error": {"message": message, "code": "context_length_exceeded"}}, {}, WHERE)
    assert isinstance(error, ContextTooLong)
    assert error.limit == limit


def test_the_sentences_say_what_where_and_what_to_do() -> None:
    wrong = classify(401, {"error": {"message": "Incorrect API key provided"}}, {}, WHERE)
    assert str(wrong) == (
        "OpenAI (https://api.openai.com) refused the key (401): Incorrect API key provided."
        " Set it: `hermes config set OPENAI_API_KEY KEY`"
    )
    missing = classify(401, b"", {}, Where("Local", "http://me:pw@127.0.0.1:8080/v1"))
    assert str(missing) == (
        "Local (http://127.0.0.1:8080) wants a key, and none is set (401)."
        " Set it: `hermes config set model.api_key KEY`"
    )
    moved = classify(301, b"", {"location": "https://x.example/v1"}, WHERE)
    assert "https://x.example/v1" in str(moved)
    page = malformed(WHERE, b"<!doctype html><html><title>Sign in</title>")
    assert "a web page (Sign in)" in str(page)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT", "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 09:00:00 GMT", "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
    error = classify(429, b"", headers, WHERE)
    assert isinstance(error, Unavailable)
    assert error.retry_after == seconds


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message", "code", "x"]), inner)
    ),
    max_leaves=8,
)


@given(status=st.integers(0, 999), body=st.binary() | st.text() | json_values.map(json.dumps))
def test_nothing_a_server_says_breaks_the_classification(status: int, body: bytes | str) -> None:
    error = classify(status, body, {"retry-after": "1"}, WHERE)
    assert isinstance(error, ModelError)
    assert error.kind
    assert len(str(error)) < 600
