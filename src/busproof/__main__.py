"""`python -m busproof` is the command line."""

import sys

from busproof.cli import main

sys.exit(main())
