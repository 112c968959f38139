"""``python -m structag``: the command line."""

import sys

from structag.cli.main import main

sys.exit(main())
