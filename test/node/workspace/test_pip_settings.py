import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from flexrack_node.workspace import pip_settings


def translated(settings, env=None, requirements=""):
    return pip_settings.translate(settings, env or {}, requirements)


class ReadTest(unittest.TestCase):
    """Held against pip itself."""

    def setUp(self):
        self.home = Path(tempfile.mkdtemp(prefix="flexrack-pip-"))
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_CONFIG_DIRS": str(self.home / "xdg")}

    def tearDown(self):
        shutil.rmtree(self.home)

    def write(self, path, text):
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return str(file)

    def by_pip(self, env):
        """What pip's own reader has, by the names of the settings of `pip install`."""
        shown = subprocess.run([sys.executable, "-m", "pip", "config", "list"], env=env, capture_output=True, text=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        sections = {"global": {}, "install": {}, ":env:": {}}
        for line in shown.stdout.splitlines():
            section, _, rest = line.partition(".")
            key, _, value = rest.partition("=")
            sections.get(section, {})[key] = value[1:-1].replace("\\n", "\n")
        return {**sections["global"], **sections["install"], **sections[":env:"]}

    def same(self, **more):
        env = {**self.env, **more}
        mine, theirs = pip_settings.read(env, sys.prefix), self.by_pip(env)
        theirs.pop("config-file", None)
        self.assertEqual(
            {key: value.split() for key, value in mine.items()}, {key: value.split() for key, value in theirs.items()}
        )
        return mine

    def test_every_place_counts_as_it_does_for_pip(self):
        self.write("xdg/pip/pip.conf", "[global]\ntimeout = 1\nretries = 1\nproxy = http://one.example:1\n")
        self.write(".pip/pip.conf", "[global]\ntimeout = 2\nindex-url = https://two.example/simple\n")
        self.write(
            ".config/pip/pip.conf",
            "[global]\ntimeout = 3\nfind-links =\n    /a\n    /b\n[install]\nindex-url = https://own.example/simple\n[download]\nretries = 9\n",
        )
        self.assertEqual(self.same()["timeout"], "3")
        self.assertEqual(
            self.same(PIP_TIMEOUT="4", PIP_EXTRA_INDEX_URL="https://x.example https://y.example")["timeout"], "4"
        )
        given = self.write("given.conf", "[global]\ntrusted-host = here.example\n")
        # with a file of its own, pip leaves out the user's
        self.assertNotIn("find-links", self.same(PIP_CONFIG_FILE=given))
        self.assertEqual(self.same(PIP_CONFIG_FILE=str(self.home / "nowhere"))["timeout"], "3")
        self.assertEqual(self.same(PIP_CONFIG_FILE=os.devnull, PIP_RETRIES="7"), {"retries": "7"})


class TranslateTest(unittest.TestCase):
    def test_says_to_uv_what_pip_was_told(self):
        out = translated(
            {
                "index-url": "https://a.example/simple",
                "extra-index-url": "https://b.example/simple\nhttps://c.example/simple",
                "timeout": "30",
                "retries": "7",
                "trusted-host": "a.example b.example:8443",
                "cert": "/ca.pem",
                "client-cert": "/me.pem",
                "constraint": "/c.txt",
                "keyring-provider": "subprocess",
            }
        )
        env = {key: out.env[key] for key in out.env if key != "UV_SYSTEM_CERTS"}
        self.assertEqual(
            env,
            {
                "UV_DEFAULT_INDEX": "https://a.example/simple",
                "UV_INDEX": "https://b.example/simple https://c.example/simple",
                "UV_INDEX_STRATEGY": "unsafe-best-match",
                "UV_HTTP_TIMEOUT": "30",
                "UV_HTTP_RETRIES": "7",
                "UV_INSECURE_HOST": "a.example b.example:8443",
                "SSL_CERT_FILE": "/ca.pem",
                "SSL_CLIENT_CERT": "/me.pem",
                "UV_KEYRING_PROVIDER": "subprocess",
            },
        )
        self.assertEqual((out.args, out.told, out.constraints), ([], [], ["/c.txt"]))

    def test_choices_become_options(self):
        out = translated(
            {
                "no-index": "true",
                "pre": "1",
                "no-deps": "no",
                "only-binary": ":all:",
                "no-binary": "one,two",
                "require-hashes": "yes",
                "no-cache-dir": "0",
            }
        )
        self.assertEqual(
            out.args,
            [
                "--no-index",
                "--require-hashes",
                "--prerelease",
                "allow",
                "--no-binary",
                "one",
                "--no-binary",
                "two",
                "--only-binary",
                ":all:",
            ],
        )

    def test_a_proxy_is_for_all_and_goes_before_the_environments(self):
        out = translated({"proxy": "http://p.example:3128"}, {"HTTPS_PROXY": "http://other.example"})
        self.assertEqual(
            {out.env[name] for name in ("HTTP_PROXY", "https_proxy", "ALL_PROXY", "HTTPS_PROXY")},
            {"http://p.example:3128"},
        )

    def test_what_the_account_tells_uv_itself_stays(self):
        out = translated(
            {"index-url": "https://a.example/simple", "timeout": "3"},
            {"UV_DEFAULT_INDEX": "https://z.example", "UV_INDEX_STRATEGY": "first-index"},
        )
        self.assertEqual(
            {key: value for key, value in out.env.items() if key.startswith("UV_") and key != "UV_SYSTEM_CERTS"},
            {"UV_HTTP_TIMEOUT": "3"},
        )

    def test_options_in_the_requirements_count_more(self):
        out = translated(
            {"index-url": "https://a.example/simple", "trusted-host": "a"},
            requirements="--index-url https://mine.example/simple\n--pre\n--trusted-host b\n--trusted-host=c\n--prefer-binary\nx\n",
        )
        self.assertNotIn("UV_DEFAULT_INDEX", out.env)
        self.assertEqual((out.env["UV_INSECURE_HOST"], out.args), ("a b c", ["--prerelease", "allow"]))
        self.assertEqual(out.told, ["--prefer-binary in the requirements has no counterpart in uv and does not count"])

    def test_what_has_no_counterpart_is_named_and_what_does_not_matter_is_not(self):
        out = translated(
            {
                "prefer-binary": "1",
                "no-build-isolation": "0",
                "progress-bar": "off",
                "cache-dir": "/x",
                "disable-pip-version-check": "1",
                "keyring-provider": "import",
            }
        )
        self.assertEqual(
            out.told,
            [
                f"pip's setting {key} has no counterpart in uv and does not count"
                for key in ("keyring-provider", "no-build-isolation", "prefer-binary")
            ],
        )

    def test_folders_of_packages_that_are_not_there_are_passed_over(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            page.touch()
            out = translated({"find-links": f"{folder} /nowhere/at-all file://{folder} https://x.example/links {page}"})
            self.assertEqual(out.env["UV_FIND_LINKS"], f"{folder},{folder},https://x.example/links")
            self.assertEqual(
                out.told,
                [
                    "pip's setting find-links names /nowhere/at-all, which does not count: there is no such folder",
                    f"pip's setting find-links names {page}, which does not count: uv reads folders and web pages only",
                ],
            )


class ThroughCallerTest(unittest.TestCase):
    DOWNLOAD = {
        "proxy": "http://flexrack:s3cret@127.0.0.1:9",
        "settings": {"index-url": "https://a.example/simple", "find-links": "https://b.example/links", "no-index": "1"},
    }

    def variables(self, env):
        return pip_settings.through_caller(self.DOWNLOAD, {"PIP_CONFIG_FILE": "/dev/null", **env}, "/nonexistent")

    def test_the_proxy_counts_for_pip_and_uv_more_than_any_of_the_nodes(self):
        env = {"PIP_PROXY": "http://other:1", "HTTPS_PROXY": "http://other:1"}
        env.update(self.variables(env))
        self.assertEqual(
            {env[key] for key in ("HTTP_PROXY", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "PIP_PROXY")},
            {self.DOWNLOAD["proxy"]},
        )
        self.assertEqual(
            translated(pip_settings.read(env, "/nonexistent"), env).env["https_proxy"], self.DOWNLOAD["proxy"]
        )

    def test_the_callers_places_count_each_where_the_node_has_none(self):
        found = self.variables({})
        self.assertEqual(
            (found["PIP_INDEX_URL"], found["PIP_FIND_LINKS"], found.get("PIP_NO_INDEX")),
            ("https://a.example/simple", "https://b.example/links", None),
        )
        self.assertNotIn("PIP_INDEX_URL", self.variables({"UV_DEFAULT_INDEX": "https://own.example"}))
        found = self.variables({"PIP_INDEX_URL": "https://own.example"})
        self.assertNotIn("PIP_INDEX_URL", found)
        self.assertEqual(found["PIP_FIND_LINKS"], "https://b.example/links")

    def test_where_the_callers_settings_stand_instead_nothing_of_the_node_counts(self):
        env = {
            "PIP_INDEX_URL": "https://own.example",
            "UV_DEFAULT_INDEX": "https://own.example",
            "UV_NO_INDEX": "0",
            "no_proxy": "*",
            "PATH": "/bin",
            "PIP_CONFIG_FILE": "/etc/own.conf",
        }
        found = pip_settings.through_caller({**self.DOWNLOAD, "instead": True}, env, "/nonexistent")
        self.assertEqual([found[key] for key in ("UV_DEFAULT_INDEX", "UV_NO_INDEX", "no_proxy")], [None] * 3)
        left = {**env, **found}
        after = {key: value for key, value in left.items() if value is not None}
        self.assertEqual(after["PATH"], "/bin")
        translation = translated(pip_settings.read(after, "/nonexistent"), after, "alpha\n")
        self.assertEqual(translation.args, ["--no-index"])
        self.assertEqual(
            (translation.env["UV_FIND_LINKS"], translation.env["UV_DEFAULT_INDEX"]),
            ("https://b.example/links", "https://a.example/simple"),
        )

    def test_the_command_line_reads_the_settings_of_its_own_machine(self):
        env = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": "/dev/null", "PIP_EXTRA_INDEX_URL": "https://c.example"}
        shown = subprocess.run(
            [sys.executable, "-I", pip_settings.__file__], env=env, capture_output=True, text=True, check=True
        )
        self.assertEqual(json.loads(shown.stdout), {"extra-index-url": "https://c.example"})
