"""A headless Chromium that is told what to do over a pipe, by its DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe
"""
SECONDS = 60
# Chromium reads commands from file 3 and answers on file 4.
PIPES = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page of a browser of its own; ``events`` is all that the browser told about it."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        read, write = os.pipe(), os.pipe()
        command = [PROGRAM, *FLAGS.split(), f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", PIPES, str(read[0]), str(write[1]), *command],
            pass_fds=(read[0], write[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read[0])
        os.close(write[1])
        self._in, self._out = read[1], write[0]
        self._left = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        self._attach()

    def _attach(self) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        """Return what the browser says next; remember it if it is an event."""
        end = time.monotonic() + SECONDS
        while b"\0" not in self._left:
            ready = select.select([self._out], [], [], max(end - time.monotonic(), 0))[0]
            content = os.read(self._out, 2**20) if ready else b""
            assert content, "the browser is silent"
            self._left += content
        line, _, self._left = self._left.partition(b"\0")
        message = dict(json.loads(line))
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, file: Path, *, scheme: str = "light", width: int = 1200) -> None:
        """Open a file and wait until it is loaded."""
        self.events.clear()
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[feature])
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.send("Page.navigate", url=file.as_uri())
        while "Page.loadEventFired" not in [event["method"] for event in self.events]:
            self._next()

    def value(self, script: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def text(self, selector: str) -> str:
        """Return the text of the first element that fits."""
        return str(self.value(f"document.querySelector({json.dumps(selector)}).innerText"))

    def click(self, selector: str) -> None:
        """Move the mouse to an element, and press and release its button."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.value(f"{found}.scrollIntoView({{block: 'center'}})")
        box = f"(() => {{ const b = {found}.getBoundingClientRect(); "
        middle = self.value(box + "return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.send(
                "Input.dispatchMouseEvent",
                type=kind,
                x=middle[0],
                y=middle[1],
                button="left",
                clickCount=1,
            )

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("rawKeyDown", "keyUp"):
            codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
            )

    def screenshot(self, file: Path) -> None:
        """Write a picture of the whole page."""
        found = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(found["data"]))

    def pdf(self) -> bytes:
        """Return the page as it is printed."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def problems(self) -> list[str]:
        """Return errors of scripts, and everything on the console."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event) for event in self.events if event["method"] in kinds]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for; what the page itself holds is not asked for."""
        sent = [e for e in self.events if e["method"] == "Network.requestWillBeSent"]
        addresses = [str(event["params"]["request"]["url"]) for event in sent]
        return [address for address in addresses if not address.startswith("data:")]

    def close(self) -> None:
        """End the browser."""
        self._session = None
        try:
            self.send("Browser.close")
        except (AssertionError, OSError):
            self._process.kill()
        self._process.wait(SECONDS)
        os.close(self._in)
        os.close(self._out)
