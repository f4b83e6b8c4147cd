"""Reports of a run: for programs, for people and for Allure."""
