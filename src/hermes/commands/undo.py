"""/undo: take back what was said last; /undo restore: bring it back."""

from hermes.core.errors import UsageError
from hermes.core.store import Stored, Tx
from hermes.lib.text import one_line
from hermes.sdk import CommandContext, command


@command("undo", usage="[number | restore]", choices=("restore",), idle=True)
async def undo(ctx: CommandContext, rest: str) -> str:
    """Take back your last message and all that followed, or bring it back."""
    if rest == "restore":
        return await _restore(ctx)
    if rest and not (rest.isascii() and rest.isdigit() and int(rest)):
        raise UsageError(
            "How many messages? /undo takes back one, /undo 2 two, /undo restore brings them back."
        )
    return await _take_back(ctx, int(rest or 1))


async def _take_back(ctx: CommandContext, many: int) -> str:
    desk = ctx.desk
    key = desk.session

    def work(tx: Tx) -> Stored | None:
        questions = [row for row in tx.messages.all(key) if row.message.opening]
        if not questions:
            return None
        first = questions[-many:][0]
        tx.messages.retract(key, first.seq)
        tx.drafts.clear(key)
        return first

    first = await desk.store.write(work)
    if first is None:
        return "There is nothing to take back."
    undone = [*desk.undone, first.seq]
    await desk.open(key)
    desk.undone[:] = undone
    return (
        f"Taken back, from: “{one_line(first.message.text)}” on. The model no longer sees it."
        " `/undo restore` brings it back. Files that were changed stay changed."
    )


async def _restore(ctx: CommandContext) -> str:
    desk = ctx.desk
    key = desk.session
    if not desk.undone:
        return "Nothing was taken back here since you last said something."
    since = min(desk.undone)
    count = await desk.store.write(lambda tx: tx.messages.restore(key, since))
    await desk.open(key)
    desk.undone.clear()
    return f"Brought back: {count} message{'' if count == 1 else 's'}."
