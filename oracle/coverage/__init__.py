"""Coverage: the rules that an allowed answer exercises; nothing here decides what is allowed."""
