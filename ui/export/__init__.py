"""What leaves, and which targets accept it."""
