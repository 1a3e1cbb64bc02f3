"""Tests of what SQLite files go through: many processes, forks, full disks, damage, replacement."""
