"""The words of the language: tokens, the tree of a text, the rules that refuse."""
