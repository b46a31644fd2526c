"""A text file as bytes and as text: encoding, byte order mark and line ends are kept."""

import codecs
import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"\x89PNG\r\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive (also .docx, .xlsx, .jar, .whl)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x7fELF", "ELF program"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
)
_PEEK = 8192


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in place of the characters from `start` up to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file with "\n" line ends, and what is needed to write it back as it was.

    `mark` is the byte order mark. `newline` is the line end used by every line ("\n" when there is
    none). In a "mixed" file `pairs` are the places in `text` of the line ends that were "\r\n", and
    single carriage returns stay in `text`.
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    newline: Literal["\n", "\r\n", "\r", "mixed"] = "\n"
    pairs: tuple[int, ...] = ()

    def encode(self, text: str) -> bytes:
        """The bytes of a file of this kind that holds `text`. Raise UnicodeEncodeError if it cannot."""
        text = text.replace("\r\n", "\n")
        if self.newline in {"\r\n", "\r"}:
            text = text.replace("\n", self.newline)
        return self.mark + text.encode(self.encoding)

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The bytes after the edits, which do not overlap; every other byte stays as it is."""
        pieces: list[str] = []
        at = 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            pieces += self._raw(at, edit.start), self._with_ends(edit)
            at = edit.end
        pieces.append(self._raw(at, len(self.text)))
        return self.mark + "".join(pieces).encode(self.encoding)

    def _raw(self, start: int, end: int) -> str:
        """A stretch of the text with the line ends it has in the file."""
        text = self.text[start:end]
        if self.newline in {"\r\n", "\r"}:
            return text.replace("\n", self.newline)
        pieces: list[str] = []
        at = start
        for place in self.pairs[bisect_left(self.pairs, start) : bisect_left(self.pairs, end)]:
            pieces += self.text[at:place], "\r\n"
            at = place + 1
        return "".join(pieces) + self.text[at:end]

    def _with_ends(self, edit: Edit) -> str:
        """The new text with the line ends of the file, in a mixed one with those around it."""
        text, newline = edit.text.replace("\r\n", "\n"), self.newline
        if newline == "mixed":
            place = self.text.find("\n", edit.start)
            if place < 0:
                place = self.text.rfind("\n", 0, edit.start)
            newline = "\r\n" if place in self.pairs else "\n"
        return text if newline == "\n" else text.replace("\n", newline)

    @property
    def traits(self) -> tuple[str, ...]:
        """What is unusual about the file, in a few words each."""
        found: list[str] = []
        if self.encoding == "latin-1":
            found.append("not UTF-8, shown as Latin-1")
        elif self.encoding != "utf-8":
            found.append(self.encoding.upper())
        if self.mark:
            found.append("byte order mark")
        if self.newline != "\n":
            found.append(
                {"\r\n": "CRLF line ends", "\r": "CR line ends"}.get(self.newline, "mixed line ends")
            )
        return tuple(found)


def binary(content: bytes) -> str:
    """What kind of binary file this is, "" for text."""
    for magic, kind in _MAGIC:
        if content.startswith(magic):
            return kind
    if any(content.startswith(mark) for mark, _ in _MARKS):
        return ""
    return "binary data" if b"\0" in content[:_PEEK] else ""


def decode(content: bytes) -> TextFile:
    """Read bytes as text: by byte order mark, else UTF-8, else Latin-1, which keeps every byte."""
    mark, encoding = next(((m, e) for m, e in _MARKS if content.startswith(m)), (b"", "utf-8"))
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        mark, encoding, text = b"", "latin-1", content.decode("latin-1")
    if "\r" not in text:
        return TextFile(text, encoding, mark)
    pairs, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    if pairs == feeds == returns:
        return TextFile(text.replace("\r\n", "\n"), encoding, mark, "\r\n")
    if feeds == 0:
        return TextFile(text.replace("\r", "\n"), encoding, mark, "\r")
    places = tuple(found.start() - before for before, found in enumerate(re.finditer("\r\n", text)))
    return TextFile(text.replace("\r\n", "\n"), encoding, mark, "mixed", places)


def lines(text: str) -> list[str]:
    """The lines without their ends; a final line end does not begin another line."""
    parts = text.split("\n")
    if parts[-1] == "":
        parts.pop()
    return parts
