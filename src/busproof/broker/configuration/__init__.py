"""The configuration file of Microsoft's emulator, with busproof's additions."""
