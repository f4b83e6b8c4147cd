"""Adapters: translations between the vocabulary and the implementations under test."""
