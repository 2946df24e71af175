"""``python -m judgenet``."""

from judgenet.cli.main import main

raise SystemExit(main())
