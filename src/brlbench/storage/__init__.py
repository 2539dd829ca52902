"""Results, trained agents and experiments on disk: serialised here, never trained or played."""
