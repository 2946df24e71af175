"""``python -m judgenet``, and where the frozen program begins."""

import sys

from judgenet.children import OPTION, restore_library_path, run_child

restore_library_path()
if sys.argv[1:2] == [OPTION]:
    run_child(*sys.argv[2:])
else:
    # A child needs nothing of the command line, which takes a while to load.
    from judgenet.cli.main import main

    raise SystemExit(main())
