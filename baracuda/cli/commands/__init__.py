"""The commands of the command line, a module each: they read options, call the library and print."""
