"""A page in a headless browser, driven over a pipe with the DevTools protocol; Python's own library is enough."""

import base64
import fcntl
import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server:
    """Serves a folder, and some files beside it, on a free port of this machine."""

    def __init__(self, folder, beside):
        class Handler(Quiet):
            def translate_path(self, path):
                name = path.split("?")[0].lstrip("/")
                return str(beside[name]) if name in beside else super().translate_path(path)

        handler = functools.partial(Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"


class Page:
    """One page of a browser without a window."""

    def __init__(self, width=1400, height=1000):
        browser = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
        if browser is None:
            raise SystemExit("this needs Chromium: apt-get install chromium")
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        # The browser reads commands from file 3 and writes answers to file 4.
        arguments = [
            browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
            f"--window-size={width},{height}", "--no-first-run", "--disable-background-networking", "about:blank",
        ]

        def files():
            # Far from 3 and 4 first, in case one of them is in the other's place.
            far = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
            os.dup2(far[0], 3)
            os.dup2(far[1], 4)

        self.process = subprocess.Popen(
            arguments, preexec_fn=files, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.events = 0, b"", []
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Runtime.enable")

    session = None

    def read(self):
        while b"\0" not in self.rest:
            chunk = os.read(self.read_end, 1 << 20)
            if not chunk:
                raise SystemExit("the browser has ended")
            self.rest += chunk
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        self.ask("Page.navigate", url=url)

    def run(self, script):
        """The value of a script, awaited."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise SystemExit(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def screenshot(self, path):
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()
