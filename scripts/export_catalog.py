"""Write the lists of models in the catalogue anew, from genai-prices and litellm's table.

    pip install genai-prices
    pip download --no-deps litellm
    python scripts/export_catalog.py litellm-*.whl

Prices are those of genai-prices, and litellm's where it has none. Which models a vendor lists is decided by
hand, in its file: only what is below the line "# Models" is rewritten, for the names that stand there. That
line says which sources were used. What neither source knows stays unset. What stands above the line
(addresses, keys, options) is written and checked by hand.
"""

import json
import sys
import time
import tomllib
import zipfile
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices.data import providers

GENAI = f"genai-prices {version('genai-prices')}"
TABLE = "model_prices_and_context_window_backup.json"
CATALOG = Path(__file__).parents[1] / "src/hermes/providers/catalog"
LINE = "# Models"
NOW = datetime.fromtimestamp(time.time(), UTC)  # noqa: TID251  a script, not the product

# vendor: (provider of genai-prices, prefixes of litellm's keys, what genai-prices leaves out of a name)
SOURCES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "openai": ("openai", ("",), ""),
    "anthropic": ("anthropic", ("",), ""),
    "google": ("google", ("gemini/",), ""),
    "deepseek": ("deepseek", ("deepseek/", ""), ""),
    "mistral": ("mistral", ("mistral/",), ""),
    "groq": ("groq", ("groq/",), ""),
    "together": ("together", ("together_ai/",), ""),
    "fireworks": ("fireworks", ("fireworks_ai/",), "accounts/fireworks/models/"),
    "xai": ("x-ai", ("xai/",), ""),
    "kimi": ("moonshotai", ("moonshot/",), ""),
    "zai": ("zai", ("zai/",), ""),
    "minimax": ("minimax", ("minimax/",), ""),
    "qwen": ("", ("dashscope/",), ""),
    "openrouter": ("openrouter", ("openrouter/",), ""),
    "azure": ("azure", ("azure/",), ""),
}
UNITS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached": "cache_read_mtok",
    "written": "cache_write_mtok",
}
COSTS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "written": "cache_creation_input_token_cost",
}


def main() -> None:
    wheel = Path(sys.argv[1])
    litellm, facts = " ".join(wheel.name.split("-")[:2]), table(wheel)
    for vendor, (provider, prefixes, left_out) in SOURCES.items():
        path = CATALOG / f"{vendor}.toml"
        head, _, _ = path.read_text().partition(LINE)
        names = tomllib.loads(path.read_text()).get("models", {})
        used: set[str] = set()
        lines: list[str] = []
        for name in names:
            known = next((facts[p + name] for p in prefixes if p + name in facts), {})
            price = listed(provider, name.removeprefix(left_out))
            if price:
                used.add(GENAI)
            elif price := per_million(known):
                used.add(litellm)
            lines.append(entry(name, known, price, context(provider, name.removeprefix(left_out))))
        prices = f"prices from {' and '.join(sorted(used))}"
        rest = f"windows from {GENAI} or {litellm}, abilities from the latter"
        path.write_text(head + "\n".join([f"{LINE}: {prices}; {rest}; {NOW.date()}.\n", *lines]))


def table(wheel: Path) -> dict[str, dict[str, Any]]:
    """What litellm knows of models, from its wheel."""
    with zipfile.ZipFile(wheel) as packed:
        member = next(name for name in packed.namelist() if name.endswith(TABLE))
        facts: dict[str, dict[str, Any]] = json.loads(packed.read(member))
    return facts


def found(provider: str, name: str) -> Any:
    """The model of genai-prices: by its own name, else by its matching rules."""
    models = next((p.models for p in providers if p.id == provider), [])
    exact = [m for m in models if m.id.lower() == name.lower()]
    return next(iter(exact or [m for m in models if m.is_match(name)]), None)


def listed(provider: str, name: str) -> dict[str, float]:
    model = found(provider, name)
    if model is None:
        return {}
    prices = model.get_prices(NOW)
    values = {key: getattr(prices, unit, None) for key, unit in UNITS.items()}
    base = {key: getattr(value, "base", value) for key, value in values.items()}
    return {key: float(Decimal(value)) for key, value in base.items() if value is not None}


def context(provider: str, name: str) -> int:
    model = found(provider, name)
    return (model.context_window or 0) if model else 0


def per_million(known: dict[str, Any]) -> dict[str, float]:
    costs = {key: known.get(cost) for key, cost in COSTS.items()}
    return {key: round(float(cost) * 1e6, 6) for key, cost in costs.items() if cost is not None}


def entry(name: str, known: dict[str, Any], price: dict[str, float], window: int) -> str:
    """A model's table. The larger window counts: one source gives the input alone, the other the whole."""
    lines = [f'[models."{name}"]']
    whole = max(window, known.get("max_input_tokens") or 0)
    if whole:
        lines.append(f"context = {whole}")
    most = known.get("max_output_tokens")
    if most and most < whole:  # a limit as large as the window is none
        lines.append(f"max_output = {most}")
    if price:
        lines.append("price = { " + ", ".join(f"{key} = {value:g}" for key, value in price.items()) + " }")
    if known.get("supports_function_calling") is False:
        lines.append("tools = false")
    for field, key in (("vision", "supports_vision"), ("reasoning", "supports_reasoning")):
        if known.get(key):
            lines.append(f"{field} = true")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
