"""Operations that clients request through an entity's `$management` node."""
