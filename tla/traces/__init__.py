"""Recorded histories, judged by TLC."""
