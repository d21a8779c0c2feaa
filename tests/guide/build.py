"""A finished build folder: what it was configured with, and its programs linked again with more in them."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil

from tap import run


def tool(name):
    """Debian's own programs come first, as in the launcher."""
    debian = pathlib.Path("/usr/bin") / name
    return str(debian) if debian.exists() else shutil.which(name)


def option_text(value):
    """An option's value as `meson setup` reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)  # a list's text is what Meson reads as one


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        described = json.loads((self.folder / "meson-info" / "intro-buildoptions.json").read_text())
        self.options = {option["name"]: option["value"] for option in described}

    def sanitizers(self):
        """The compiler's options for them; none where the build has none."""
        chosen = option_text(self.options["b_sanitize"])
        return [] if chosen == "none" else [f"-fsanitize={chosen}"]

    def compiler(self):
        """The command that compiles and links C++."""
        words = self.link_command("heed")
        return words[:words.index("-o")]

    def setup_like(self, source, folder):
        """Configures another source folder as this one was."""
        same = [f"-D{name}={option_text(self.options[name])}" for name in (
            "cpu", "optimization", "debug", "werror", "b_lundef", "b_sanitize", "cpp_args", "cpp_link_args")]
        run([tool("meson"), "setup", *same, str(folder), str(source)])
        return Build(folder)

    def ninja(self, *arguments):
        return run([tool("ninja"), "-C", str(self.folder), *arguments], timeout=None)  # the test has a limit as a whole

    def compile_beside(self, finished, objects):
        """Compiles object files with ninja's commands, but with the precompiled headers that another build has."""
        def compile_one(name):
            words = shlex.split(self.ninja("-t", "commands", "-s", name))
            own = [word for word in words if re.search(r"^-I.*/libheaders_of_", word)]
            if not own:  # this compiler's headers are not shared (autograd/meson.build)
                return self.ninja(name)
            at = words.index(own[0])
            there = [f"-I{finished.folder / word.removeprefix('-I')}" for word in own]
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            return run([*words[:at], *there, f"-I{finished.folder / 'autograd'}", *words[at:]], cwd=self.folder)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, objects))

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
        self.ninja(target)
        words = self.link_command(target)
        at = words.index("-o")
        run([*words[:at], "-o", str(program), *map(str, objects), *words[at + 2:]], cwd=self.folder)
        return program
