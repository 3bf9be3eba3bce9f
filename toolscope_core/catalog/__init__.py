"""Native tool catalogs in and out: reading, naming, scanning, token estimates, writing."""
