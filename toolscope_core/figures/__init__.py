"""Pictures: ``views`` says what is drawn, ``charts`` and ``network`` draw it with Plotly."""
