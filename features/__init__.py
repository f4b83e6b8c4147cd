"""The rules as scenarios, in Gherkin."""
