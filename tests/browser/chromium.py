"""Pages in headless Chromium: what is in them once their programs have run, what they complain of and ask for."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from tap import HANG

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
QUIET = ("--headless", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-extensions", "--no-first-run", "--no-default-browser-check",
         "--disable-dev-shm-usage")


def program():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Visit:
    """What came of opening a page."""

    def __init__(self, dom, log, requests):
        self.dom = dom
        self.complaints = re.findall(r":CONSOLE[:(].*", log)  # whatever the page wrote on its console, errors included
        self.requests = requests

    def probe(self):
        """The element that the page's probe adds at its end, or None."""
        return re.search(r'<pre id="probe">(.*?)</pre>', self.dom, re.S)

    def probed(self):
        """What the page's probe found: the JSON in its element #probe."""
        found = self.probe()
        assert found, "the page's probe did not come to its end:\n" + "\n".join(self.complaints)
        text = found.group(1)
        for entity, sign in (("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
            text = text.replace(entity, sign)
        return json.loads(text)


def visit(page, width=1400, dark=False):
    """Opens a page with a probe, and looks at what there is when the probe has come to its end. Virtual time runs ahead
    of what a busy machine draws, so a probe may have found too little; then the page is opened again, with more of it."""
    for seconds in (6, 20, 60, 60, 60, 60):
        seen = visit_for(page, seconds, width, dark)
        if seen.probe():
            break
    return seen


def visit_for(page, seconds=6, width=1400, dark=False):
    """Opens a file, and lets its programs run for some seconds of virtual time."""
    with tempfile.TemporaryDirectory() as folder:
        net = pathlib.Path(folder, "net.json")
        command = [program(), *QUIET, f"--user-data-dir={folder}/profile", f"--log-net-log={net}",
                   "--host-resolver-rules=MAP * ~NOTFOUND", f"--virtual-time-budget={1000 * seconds}",
                   # Windows have a least width, but where they are as large as the screen.
                   f"--screen-info={{{width}x1000}}", "--start-maximized",
                   "--enable-logging=stderr", "--v=0",
                   "--dump-dom", pathlib.Path(page).as_uri()]
        if dark:
            command.insert(1, "--blink-settings=preferredColorScheme=0")
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=HANG)
        return Visit(done.stdout, done.stderr, requests_in(net))


def requests_in(net_log):
    """Addresses of what the page asked for, by a log of Chromium's network; what the browser itself asks for, such as
    its updates, has no origin."""
    addresses = set()
    for line in net_log.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            parameters = json.loads(line.rstrip(",")).get("params", {})
        except (ValueError, AttributeError):
            continue  # the log's head and foot
        if parameters.get("initiator", "not an origin") != "not an origin" and "url" in parameters:
            addresses.add(parameters["url"])
    return sorted(addresses)
