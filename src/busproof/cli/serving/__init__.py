"""Parts of `busproof serve`."""
