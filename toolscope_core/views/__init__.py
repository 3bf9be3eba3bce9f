"""What is shown, as plain values: pure functions of catalogs, analyses, plans and logs."""
