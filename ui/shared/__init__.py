"""What several pages share: the frame, tools, pairs, cards, and the services behind them."""
