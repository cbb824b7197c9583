"""Where values that are known stand in a text, however they are written there.

Each matcher goes through a text's tokens once and looks a bounded number of tokens
ahead, so time grows with the text's length alone, whatever is in it.
"""
