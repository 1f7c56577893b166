"""The hard rules as rows of the model, one file a family, in the order of the rule book."""
