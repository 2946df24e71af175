"""``python app`` runs JudgeNet from a checkout without installing it."""

from judgenet.cli.main import main

raise SystemExit(main())
