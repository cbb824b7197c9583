"""From plan to statements: what every engine shares; a folder for each dialect."""
