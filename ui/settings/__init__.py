"""The Settings page: the model endpoint and the prices."""
