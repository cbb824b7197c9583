"""What declarations must say beside one another; each broken rule is a sentence."""
