"""A finished build folder: what it was configured with, and its programs linked again with more in them."""

import json
import pathlib
import re
import shlex
import shutil

from points import run


def tool(name):
    """Debian's own programs come first, as in the launcher."""
    debian = pathlib.Path("/usr/bin") / name
    return str(debian) if debian.exists() else shutil.which(name)


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        described = json.loads((self.folder / "meson-info" / "intro-buildoptions.json").read_text())
        self.options = {option["name"]: option["value"] for option in described}

    def sanitizers(self):
        """The compiler's options for them; none where the build has none."""
        chosen = self.options["b_sanitize"]
        return [] if chosen in ("none", []) else ["-fsanitize=" + (chosen if isinstance(chosen, str) else ",".join(chosen))]

    def compiler(self):
        """The command that compiles and links C++."""
        words = self.link_command("heed")
        return words[:words.index("-o")]

    def setup_like(self, source, folder):
        """Configures another source folder as this one was."""
        same = [f"-D{name}={self.options[name]}" for name in ("cpu", "optimization", "debug", "werror", "b_lundef")]
        same += ["-Db_sanitize=" + ("none" if not self.sanitizers() else self.sanitizers()[0].split("=")[1])]
        run([tool("meson"), "setup", *same, str(folder), str(source)])
        return Build(folder)

    def ninja(self, *arguments):
        return run([tool("ninja"), "-C", str(self.folder), *arguments])

    def objects(self, pattern):
        """Ninja's names of the object files that match."""
        listed = self.ninja("-t", "targets", "all")
        return [line.split(":")[0] for line in listed.splitlines() if re.search(pattern, line.split(":")[0])]

    def link_command(self, target):
        words = shlex.split(self.ninja("-t", "commands", target).splitlines()[-1])
        assert words[words.index("-o") + 1] == target, f"the last command of {target} does not link it"
        return words

    def link_with(self, target, objects, program):
        """Links `target` again, as `program`, with these object files before everything else: a table in them is taken
        instead of the one in a library."""
        words = self.link_command(target)
        at = words.index("-o")
        run([*words[:at], "-o", str(program), *map(str, objects), *words[at + 2:]], cwd=self.folder)
        return program
