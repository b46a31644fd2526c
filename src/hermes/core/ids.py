"""The names of things that have an identity: sessions, turns, calls, questions, items."""

from typing import NewType

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
CallId = NewType("CallId", str)
QuestionId = NewType("QuestionId", str)
ItemId = NewType("ItemId", str)
