"""The Settings page: endpoints and prices."""
