"""The network canvas: columns of nodes from the pair to the verdict, drawn from a plain model."""
