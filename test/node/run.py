"""Runs every test of the node program and prints one JSON line with the counts: {"passed": n, "failed": n, "skipped": n, "trouble": [what failed or was skipped, and why]}."""
import json
import sys
import unittest
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent.parent / "node"))
suite = unittest.defaultTestLoader.discover(str(here), pattern="test_*.py", top_level_dir=str(here))
result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(suite)
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
skipped = len(result.skipped)
trouble = [f"{test.id()}: {text.strip().splitlines()[-1]}" for test, text in result.failures + result.errors] + [f"{test.id()}: skipped, {why}" for test, why in result.skipped]
print(json.dumps({"passed": result.testsRun - failed - skipped, "failed": failed, "skipped": skipped, "trouble": trouble}))
sys.exit(1 if failed else 0)
