"""A conforming bus, and faulty ones made of it; `busproof.adapters.faults` is the way in."""
