"""Coverage: the rules that an allowed answer exercises; it never decides what is allowed."""
