"""JSON Schemas of parameters: their references and validity, and the dialects of the formats."""
