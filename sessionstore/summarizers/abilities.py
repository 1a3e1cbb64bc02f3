"""What was learned of endpoints by asking them, remembered for the life of the process."""
from __future__ import annotations

from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True, slots=True)
class EndpointKey:
    """A model at an address that speaks a family's dialect; an empty address is the provider's own."""

    family: str
    base_url: str
    model: str


class AbilityRecord:
    """Which endpoints keep to a JSON schema, and which want the older name of a setting. May be shared by threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._keeps_to_schema: dict[EndpointKey, bool] = {}
        self._older_limit: dict[EndpointKey, bool] = {}

    def keeps_to_schema(self, key: EndpointKey) -> bool | None:
        """Whether the endpoint keeps to a schema; None while nobody asked it."""
        with self._lock:
            return self._keeps_to_schema.get(key)

    def may_keep_to_schema(self, key: EndpointKey) -> bool:
        """Whether a schema is worth sending: it isn't where one was refused or ignored."""
        return self.keeps_to_schema(key) is not False

    def wants_older_limit(self, key: EndpointKey) -> bool:
        """Whether the longest answer goes under its older name: everywhere but at the provider's own address, until told."""
        with self._lock:
            return self._older_limit.get(key, bool(key.base_url))

    def learn_schema(self, key: EndpointKey, *, keeps: bool) -> None:
        """Remember what an endpoint did with a schema."""
        with self._lock:
            self._keeps_to_schema[key] = keeps

    def learn_limit(self, key: EndpointKey, *, older: bool) -> None:
        """Remember which name an endpoint wants."""
        with self._lock:
            self._older_limit[key] = older


ABILITIES = AbilityRecord()
"""The record of this process."""
