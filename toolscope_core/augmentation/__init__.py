"""What is written about tools so that searches find them and tell them apart."""
