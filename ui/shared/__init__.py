"""Parts that several pages share: the frame, tools, pairs and cards, and the
services behind them.
"""
