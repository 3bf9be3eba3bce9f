"""Hidden and hostile text, shadowing, and tools that cite others."""
