"""What is left when the program is killed, or cannot write."""
