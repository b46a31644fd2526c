"""The mark that stands where a secret was hidden from the model."""

HIDDEN = "⟦secret hidden⟧"
