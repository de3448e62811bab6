"""A real browser for tests, driven over the WebDriver protocol with nothing but the standard library."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1200,1600",
)

OWN = ("file:", "data:", "about:", "chrome:", "chrome-untrusted:")
"""Where a page may get things from without asking the network; the last two are the browser's own start page."""

PATIENCE = 100
"""Tenths of a second that an element is waited for."""


class Browser:
    """One headless Chromium."""

    def __init__(self, profile: Path) -> None:
        chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if chromium is None or driver is None:
            pytest.skip("no chromium and chromedriver here, so pages cannot be opened")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._address = f"http://127.0.0.1:{port}"
        self._driver = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = {"binary": chromium, "args": [*ARGUMENTS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        for _ in range(100):
            try:
                made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        else:
            self._driver.kill()
            pytest.skip("chromedriver does not answer")
        self._session = f"/session/{made['sessionId']}"
        self._ask("POST", f"{self._session}/url", {"url": "about:blank"})

    def close(self) -> None:
        try:
            self._ask("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=10)

    def open(self, page: Path | str) -> None:
        """A file, or an address."""
        self._opened = page.resolve().as_uri() if isinstance(page, Path) else page
        self._ask("POST", f"{self._session}/url", {"url": self._opened})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns; a promise is waited for."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": list(arguments)})

    def emulate(self, media: str = "", scheme: str = "light", width: int = 1200, height: int = 1600) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._cdp("Emulation.setEmulatedMedia", {"media": media, "features": features})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._cdp("Emulation.setDeviceMetricsOverride", size)

    def scripts(self, *, on: bool) -> None:
        self._cdp("Emulation.setScriptExecutionDisabled", {"value": not on})

    def markup(self, selector: str) -> str:
        """An element as it stands in the document, asked without any script; it is waited for."""
        for _ in range(PATIENCE):
            root = self._cdp("DOM.getDocument", {"depth": 0})["root"]
            there = root["documentURL"] == self._opened  # not the page before
            query = {"nodeId": root["nodeId"], "selector": selector}
            found = self._cdp("DOM.querySelector", query)["nodeId"] if there else 0
            if found:
                return str(self._cdp("DOM.getOuterHTML", {"nodeId": found})["outerHTML"])
            time.sleep(0.1)
        raise AssertionError(f"the page has no {selector}")

    def screenshot(self, path: Path) -> Path:
        """The whole page."""
        shot = self._cdp("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def complaints(self) -> list[str]:
        """Everything on the console, and every request that leaves the file."""
        found = [entry["message"] for entry in self._log("browser")]
        for entry in self._log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                found += [] if url.startswith(OWN) else [f"asked for {url}"]
        return found

    def _log(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask("POST", f"{self._session}/se/log", {"type": kind})
        return found

    def _cdp(self, command: str, parameters: dict[str, Any]) -> Any:
        return self._ask("POST", f"{self._session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, method=method)  # noqa: S310  # our own driver
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:2000]) from None
