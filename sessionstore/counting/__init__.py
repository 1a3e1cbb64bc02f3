"""Counts tokens offline: exactly where the vocabulary is installed, by a calibrated estimate elsewhere.

Importing this room loads nothing; the first count does. Nothing here uses the network but `download_vocabulary`.
"""

from sessionstore.counting.default import OfflineCounter, default_counter
from sessionstore.counting.estimate import EstimatingCounter
from sessionstore.counting.exact import VocabularyCounter
from sessionstore.counting.vocabulary import download_vocabulary

__all__ = ["EstimatingCounter", "OfflineCounter", "VocabularyCounter", "default_counter", "download_vocabulary"]
