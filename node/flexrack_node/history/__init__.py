"""What a workspace was before: saved on the node by restic, listed, compared and restored."""
