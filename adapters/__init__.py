"""Adapters, which translate between the vocabulary and the implementations under test."""
