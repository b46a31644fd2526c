"""/retry: say the last thing again."""

from hermes.core.store import Tx
from hermes.sdk import CommandContext, command


@command("retry", idle=True)
async def retry(ctx: CommandContext, _: str) -> str:
    """Take back the last answer and ask the same again."""
    desk = ctx.desk
    key = desk.session

    def work(tx: Tx) -> str:
        for row in reversed(tx.messages.all(key)):
            if row.message.opening and row.message.text:
                tx.messages.retract(key, row.seq)
                tx.drafts.clear(key)
                return row.message.text
        return ""

    text = await desk.store.write(work)
    if not text:
        return "There is nothing to ask again."
    await desk.open(key)
    await desk.say(text)
    return ""
