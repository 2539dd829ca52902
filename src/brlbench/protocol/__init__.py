"""The protocol: experiments are drawn, agents trained and played, and results made of it."""
