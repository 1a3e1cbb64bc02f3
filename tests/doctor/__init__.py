"""Tests of the doctor: each fault is planted by SQL from outside, since no API can."""
