"""What is published and how readers' questions are answered from it."""
