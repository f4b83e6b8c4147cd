"""What a run says: the conformance report for programs, for people and for Allure."""
