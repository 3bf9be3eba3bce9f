"""JSON Schemas of parameters: references, validity, the dialects of the formats."""
