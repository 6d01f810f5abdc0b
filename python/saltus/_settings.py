"""Settings: their names and defaults come from the compiled half, where they are written once."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from saltus import _saltus
from saltus._arrays import count, real
from saltus._errors import InputError, NotAvailableError, did_you_mean

DEFAULTS: dict[str, dict[str, dict[str, Any]]] = json.loads(_saltus.defaults())
"""By family (``"integrators"``, ``"solvers"``) and kind, with ``kind`` itself among the keys."""


class Settings:
    """Named settings that do not change.

    A class names its family and kind; its keywords are then those of the Rust struct, and
    ``if TYPE_CHECKING`` repeats them for type checkers (a test compares the two). Settings in
    ``by_name`` are not taken by position, and those in ``reserved``, which come last by
    position, do not exist yet: they can be None only.
    """

    _family: ClassVar[str]
    _kind: ClassVar[str]
    _defaults: ClassVar[dict[str, Any]]
    _positional: ClassVar[list[str]]
    _reserved: ClassVar[dict[str, str]]

    @staticmethod
    def _check(text: str) -> str:
        """Completes and checks the text; the family says how."""
        raise NotImplementedError

    def __init_subclass__(
        cls,
        kind: str | None = None,
        by_name: Collection[str] = (),
        reserved: Mapping[str, str] = MappingProxyType({}),  # what each would be
    ) -> None:
        if kind is None:
            return
        defaults = DEFAULTS[cls._family][kind]
        cls._kind = kind
        cls._defaults = {name: value for name, value in defaults.items() if name != "kind"}
        cls._reserved = dict(reserved)
        cls._positional = [name for name in cls._defaults if name not in by_name] + [*reserved]
        everything = {**cls._defaults, **dict.fromkeys(reserved)}
        named = [name for name in everything if name not in cls._positional]
        cls.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(name, how, default=everything[name])
                for names, how in (
                    (cls._positional, inspect.Parameter.POSITIONAL_OR_KEYWORD),
                    (named, inspect.Parameter.KEYWORD_ONLY),
                )
                for name in names
            ]
        )

    def __init__(self, *args: Any, **settings: Any) -> None:
        name = type(self).__name__
        if not hasattr(self, "_defaults"):
            raise TypeError(f"{name} is what its kinds have in common; use one of them")
        known = self._positional
        if len(args) > len(known):
            raise TypeError(
                f"{name}() takes at most {len(known)} settings by position ({', '.join(known)})"
            )
        for key, value in zip(known, args):
            if key in settings:
                raise TypeError(f"{name}() got two values for the setting `{key}`")
            settings[key] = value
        for key, meaning in self._reserved.items():
            value = settings.pop(key, None)
            if value is not None:
                raise NotAvailableError(
                    f"{name}: `{key}` = {value!r} is not available: {meaning} does not exist yet, "
                    "and None is the only value"
                )
        given = {key: self._convert(key, value) for key, value in settings.items()}
        try:
            checked = self._check(self._text(given))
        except InputError as error:
            if str(error).startswith("unknown variant"):
                raise InputError(f"{name}(): {error}") from None
            raise
        self.__dict__.update(json.loads(checked))
        del self.__dict__["kind"]

    @classmethod
    def _convert(cls, key: str, value: Any) -> Any:
        if key not in cls._defaults:
            known = ", ".join(cls._defaults)
            hint = did_you_mean(key, cls._defaults)
            raise TypeError(f"{cls.__name__}() has no setting `{key}`{hint} (it has {known})")
        default = cls._defaults[key]
        if isinstance(default, bool):
            return bool(value)
        if isinstance(default, int):
            return count(value, key)
        if isinstance(default, float):
            value = real(value, key)
            if not math.isfinite(value):
                raise InputError(f"{cls._kind}: setting `{key}` = {value} is not a finite number")
        if isinstance(default, list):
            if isinstance(value, str) or not isinstance(value, Iterable):
                raise TypeError(f"`{key}` must be a list of names, not {type(value).__name__}")
            return [getattr(one, "name", one) for one in value]
        return value

    @classmethod
    def _text(cls, settings: dict[str, Any]) -> str:
        return json.dumps({"kind": cls._kind, **settings})

    def _json(self) -> str:
        return self._text(self.__dict__)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"settings do not change; make a new {type(self).__name__}")

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash(self._json())


def from_text(base: type[Settings], text: str) -> Any:
    """The settings object that a text from the compiled half describes."""
    settings = json.loads(text)
    kind = settings.pop("kind")
    for cls in base.__subclasses__():
        if cls._kind == kind:
            return cls(**settings)
    raise InputError(f"unknown kind `{kind}`")
