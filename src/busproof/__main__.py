"""`python -m busproof` is the command line."""

import sys

from busproof.cli.main import main

sys.exit(main())
