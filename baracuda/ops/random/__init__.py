"""Random numbers: functions of a key and of an element's number, the same on every device."""
