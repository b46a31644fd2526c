"""What stays of what was done: review, proposals, the graph of what was learned."""
