"""Every check of one lineage, in one order."""
from __future__ import annotations

from collections.abc import Iterator

from sessionstore.domain.health.attempts import check_attempts
from sessionstore.domain.health.belongings import check_belongings
from sessionstore.domain.health.contexts import check_contexts
from sessionstore.domain.health.evidence import Evidence
from sessionstore.domain.health.finding import Diagnosis
from sessionstore.domain.health.generations import check_generations
from sessionstore.domain.health.log_order import check_log
from sessionstore.domain.health.open_calls import check_calls


def diagnose(evidence: Evidence) -> Iterator[Diagnosis]:
    """What is wrong with a lineage; nothing for a healthy one."""
    for check in (check_generations, check_log, check_contexts, check_attempts, check_belongings, check_calls):
        yield from check(evidence)
