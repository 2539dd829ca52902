"""Tables and figures. Reports read results only; they never play anything."""
