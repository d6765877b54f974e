"""The page of ``surefoot report`` in a real browser: it works, asks nobody, and runs no names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from surefoot import report
from tests.browser.chromium import PROGRAM, Browser
from tests.support import campaigns

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        PROGRAM is None, reason="Debian's chromium is not installed: make browser installs it"
    ),
]
STATUS = ".fault[open] .status"
CONTRAST = """
(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const shown = walker.currentNode.data.trim() && element.checkVisibility();
    if (!shown || element.closest("svg, script, button:disabled")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${walker.currentNode.data.trim()}`);
  }
  return [found, light(behind(document.body))];
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return pages by name: a campaign with pictures and scores, and a hostile one."""
    folder = tmp_path_factory.mktemp("pages")
    makers = {"blocks": campaigns.blocks, "hostile": campaigns.hostile, "line": campaigns.line}
    written = {}
    for name, make in makers.items():
        (folder / name).mkdir()
        written[name] = report.write_report(make(folder / name))
    return written


def test_nothing_goes_wrong_and_nobody_is_asked(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["blocks"])
    assert browser.problems() == []
    assert browser.requests() == [pages["blocks"].as_uri()]
    assert browser.text("h1") == "blocksworld-5-3-ci"
    assert "safe" in browser.text(".badge")


def test_the_page_forbids_itself_the_network(browser: Browser, pages: dict[str, Path]) -> None:
    """The rules in the page are in force, so that the tests above are worth something."""
    browser.open(pages["blocks"])
    browser.value("""(() => {
      const image = new Image(); image.src = "http://127.0.0.1:9/x"; document.body.append(image);
      const script = document.createElement("script"); script.textContent = "window.ran = 1";
      document.body.append(script); document.body.setAttribute("onclick", "window.ran = 2");
      document.body.click();
    })()""")
    assert browser.value("window.ran") is None
    assert any("Content Security Policy" in problem for problem in browser.problems())


def test_stepping_through_a_run(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["blocks"])
    shown = [browser.text(STATUS)]
    values = [browser.text(".frame tbody")]
    picture = browser.value("document.querySelector('.frame img').src")
    browser.click(".fault[open] [data-go=next]")
    shown.append(browser.text(STATUS))
    values.append(browser.text(".frame tbody"))
    assert shown == [
        "After step 7 of 8: choose_block_0",
        "After step 8 of 8: choose_table, the fault. Fail.",
    ]
    assert values[0] != values[1]
    assert browser.value("document.querySelector('.frame img').src") != picture
    changed = browser.value(
        "[...document.querySelectorAll('.frame .is-changed th')].map(e => e.innerText)"
    )
    assert changed == ["hand-empty", "table-counter", "block_0", "clear_0"]
    assert browser.text(".changes").startswith("hand-empty 0 → 1, table-counter 3 → 4, ")
    assert browser.value("document.querySelector('[data-go=next]').disabled") is True


def test_stepping_by_keys_slider_and_list(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["blocks"])
    browser.value("document.querySelector('.stepper').focus()")
    browser.press("Home")
    assert browser.text(STATUS) == "Start"
    browser.press("ArrowRight")
    browser.press("ArrowRight")
    browser.press("ArrowLeft")
    assert browser.text(STATUS) == "After step 1 of 8: choose_block_1"
    browser.value("document.querySelector('.stepper input').focus()")
    browser.press("ArrowRight")
    assert browser.text(STATUS).startswith("After step 2 of 8")
    browser.click(".actions li:nth-child(5)")
    assert browser.text(STATUS).startswith("After step 5 of 8")
    assert browser.problems() == []


def test_pictures_are_drawn(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["blocks"])
    sizes = browser.value(
        "[...document.querySelectorAll('.fault[open] img')].map(i => i.naturalWidth)"
    )
    assert len(sizes) == 3
    assert min(sizes) > 100


def test_hostile_names_are_text(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hostile"])
    assert browser.problems() == []
    assert browser.requests() == [pages["hostile"].as_uri()]
    assert browser.value("window.hacked") is None
    assert browser.text("h1") == campaigns.HOSTILE[0]
    assert campaigns.HOSTILE[2] in browser.text(".policy")
    assert browser.text(".fault-name code") == campaigns.HOSTILE[2]
    names = browser.text(".frame tbody")
    assert campaigns.HOSTILE[1] in names
    assert r"right\u202eto\u202dleft" in names
    browser.click(".fault[open] [data-go=last]")
    assert campaigns.HOSTILE[2] in browser.text(STATUS)
    everything = browser.value("document.documentElement.innerText")
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", everything)
    assert r"bell\x07 escape\x1b[31m" in everything
    assert "{{ 7 * 7 }}" in everything
    assert browser.value("document.querySelectorAll('script').length") == 2
    assert browser.value("document.querySelectorAll('[onerror]').length") == 0
    assert browser.value("window.hacked") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["blocks", "hostile", "line"])
def test_readable_by_day_and_night(
    browser: Browser, pages: dict[str, Path], tmp_path: Path, scheme: str, page: str
) -> None:
    browser.open(pages[page], scheme=scheme)
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    too_faint, lightness = browser.value(CONTRAST)
    assert too_faint == []
    assert lightness > 0.8 if scheme == "light" else lightness < 0.05
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 20_000


@pytest.mark.parametrize("width", [400, 800, 1200])
@pytest.mark.parametrize("page", ["blocks", "hostile", "line"])
def test_nothing_sticks_out(
    browser: Browser, pages: dict[str, Path], width: int, page: str
) -> None:
    browser.open(pages[page], width=width)
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_readable_without_scripts(browser: Browser, pages: dict[str, Path]) -> None:
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["blocks"])
        tree = browser.send("DOM.getDocument", depth=0)
        text = browser.send("DOM.getOuterHTML", nodeId=tree["root"]["nodeId"])["outerHTML"]
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
    assert re.search(r'<div class="stepper"[^>]* hidden', text)
    actions = re.findall(r"<li[^>]*><code>(choose_\w+)</code>", text)
    assert len(actions) == 8


def test_prints(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["blocks"], scheme="dark")
    assert browser.pdf().startswith(b"%PDF")
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.value("getComputedStyle(document.querySelector('.stepper')).display") == "none"
    browser.send("Emulation.setEmulatedMedia", media="")


def test_data_of_the_script_is_what_the_runs_are(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hostile"])
    data = json.loads(browser.value("document.getElementById('data').textContent"))
    assert [run["actions"] for run in data["runs"]] == [[campaigns.HOSTILE[2]] * 2] * 2
