"""A real browser for the pages; tests that ask for it are skipped where there is none."""

import base64
import json
import os
import re
import shutil
import zlib
from typing import Any

import pytest

PATIENCE = 60_000  # milliseconds in which a page must have followed, on a busy machine


def tree_data(text: str) -> dict[str, Any]:
    """What a page of a tree carries."""
    packed = re.search(r'id="data">([^<]*)<', text)
    assert packed is not None
    return json.loads(zlib.decompress(base64.b64decode(packed[1])))


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window, by way of playwright; $CHROMIUM names one that is not on the path."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: no page is looked at"
    )
    chromium = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )
    if chromium is None:
        pytest.skip("no Chromium is installed: no page is looked at")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    with playwright.sync_playwright() as started:
        instance = started.chromium.launch(executable_path=chromium, args=flags)
        yield instance
        instance.close()


@pytest.fixture(scope="session")
def tab(browser):
    """The page in which all tests look: with one for each, Chromium would start a process for each."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE)
    return context.new_page()


@pytest.fixture
def page(tab):
    """An empty page without cookies; an error in its script fails the test."""
    errors = []

    def note(error: object) -> None:
        errors.append(str(error))

    tab.on("pageerror", note)
    yield tab
    tab.goto("about:blank")
    tab.context.clear_cookies()
    tab.remove_listener("pageerror", note)
    assert not errors


@pytest.fixture
def expect(browser):
    """What is expected of a part of a page, waited for: it follows the server when it can."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect
