"""`python -m baracuda`: the command line."""

import sys

from baracuda.cli import main

if __name__ == "__main__":
    sys.exit(main())
