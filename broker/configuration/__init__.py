"""The configuration file of Microsoft's emulator, with what is added to it here."""
