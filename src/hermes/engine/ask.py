"""One model answer: stream it, ask again, fall back along the chain."""

from collections.abc import Sequence
from contextlib import aclosing

import anyio

from hermes.core.errors import ContextTooLong, NoModelAnswered, Rejected, Unavailable
from hermes.core.events import Emit, ModelSwitched, TextDelta, ThoughtDelta
from hermes.core.models import Finish, Model, Reply, Request
from hermes.engine.agent import Patience
from hermes.engine.draft import Draft
from hermes.lib.backoff import delay


async def ask(
    models: Sequence[Model], request: Request, emit: Emit, draft: Draft, patience: Patience
) -> Reply:
    """The first whole reply of the chain. Raise NoModelAnswered or ContextTooLong."""
    reasons, kind = list[str](), "unknown"
    for place, model in enumerate(models):
        reason = ""
        following = models[place + 1].name if place + 1 < len(models) else ""
        for attempt in range(1, patience.attempts + 1):
            try:
                return await _stream(model, request, emit, draft)
            except ContextTooLong:
                raise
            except (Unavailable, Rejected) as error:
                reason, kind = str(error), error.kind
                pause = _pause(error, attempt, patience)
            if pause is None:
                break
            await emit(ModelSwitched(model.name, model.name, reason, pause))
            await anyio.sleep(pause)
        reasons.append(reason)
        if following:
            await emit(ModelSwitched(model.name, following, reason))
    raise NoModelAnswered("\n".join(dict.fromkeys(reasons)) or "no model is configured", kind=kind)


def _pause(error: Unavailable | Rejected, attempt: int, patience: Patience) -> float | None:
    """Seconds until the same model is asked again, None when it is not."""
    if isinstance(error, Rejected) or attempt >= patience.attempts:
        return None
    if error.kind == "stalled" and attempt >= patience.stalls:
        return None
    if (error.retry_after or 0) > patience.longest:
        return None
    return delay(attempt, base=patience.base, cap=patience.cap, told=error.retry_after)


async def _stream(model: Model, request: Request, emit: Emit, draft: Draft) -> Reply:
    draft.begin()
    async with aclosing(model.stream(request)) as deltas:
        async for delta in deltas:
            match delta:
                case TextDelta(text):
                    await draft.add(text)
                    await emit(delta)
                case ThoughtDelta():
                    await emit(delta)
                case Reply():
                    return _usable(model, delta)
    raise Unavailable(f"{model.name} ended its answer in the middle", kind="cut")


def _usable(model: Model, reply: Reply) -> Reply:
    message = reply.message
    if message.calls or message.text.strip():
        return reply
    if reply.finish is Finish.REFUSED:
        raise Rejected(f"{model.name} declined to answer (content policy)", kind="policy")
    if reply.finish is Finish.LENGTH:
        raise Rejected(
            f"{model.name} used its whole output limit without an answer: raise model.max_tokens",
            kind="length",
        )
    raise Unavailable(f"{model.name} gave an empty answer", kind="empty")
