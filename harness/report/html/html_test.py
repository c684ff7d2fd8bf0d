#!/usr/bin/python3
"""Opens pages of `etalon report --format html` from disk in a headless Chromium with no network, and
uses them as a person would: html_test.py ETALON PAGE_FIXTURE [FOLDER]

FOLDER keeps the pages and screenshots. Exits 77 (skipped) where Chromium is missing.
"""
import base64
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

PAGES = ["overview", "findings", "ops", "cases", "roofline", "compare", "cost", "device"]


def start_browser(downloads):
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1280,900", "--no-first-run", "--disable-background-networking",
                     # Every host but this file: nothing is there.
                     "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    browser.set_script_timeout(20)
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    return browser


class Page:
    """One page in the browser, with every check that holds for all of them."""

    def __init__(self, browser, path):
        self.browser, self.path = browser, path
        browser.get_log("browser"), browser.get_log("performance")
        browser.get(path.as_uri())
        assert self.run("return document.documentElement.dataset.ready") == "yes", "the page's script did not end"

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def go(self, address):
        self.run("location.hash = arguments[0]", address)
        time.sleep(0.12)

    def text(self, selector="main"):
        return self.browser.find_element(By.CSS_SELECTOR, selector).text

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def click(self, element):
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()
        time.sleep(0.12)

    def wait(self, what, condition, seconds=5):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{self.path.name}: waited {seconds} s for {what}")

    def check(self):
        errors = [entry for entry in self.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        assert not errors, f"{self.path.name}: the console says {errors[:3]}"
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                assert url.startswith(("file:", "data:", "blob:")), f"{self.path.name} fetches {url}"
        assert self.run("return window.broken") is None, f"{self.path.name}: a text became script"
        wide = self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{self.path.name}: {wide} pixels wider than the window on {self.run('return location.hash')}"

    def visit_all(self):
        for name in PAGES:
            self.go("#" + name)
            assert self.all("main > *"), f"{name} is empty"
            current = self.run("return document.querySelector('nav [aria-current]')?.textContent.toLowerCase()")
            assert current == name, f"{name} is not the current tab but {current}"
            self.check()


def test_nights(page, downloads):
    page.visit_all()
    page.go("#overview")
    assert "regression" in page.text(".verdict") or "failed" in page.text(".verdict"), page.text(".verdict")
    assert "layernorm/bf16/rows=64,cols=4096/cudnn/cold" in page.text()

    # Tabs are links: by click and by key.
    page.click([tab for tab in page.all("nav a") if tab.text == "Cases"][0])
    assert page.run("return location.hash") == "#cases"
    rows = len(page.all("[data-table=cases] tbody tr"))
    assert rows == 20, rows
    page.browser.find_element(By.CSS_SELECTOR, "main").send_keys("3")
    page.wait("the third page", lambda: page.run("return location.hash") == "#ops")

    # Search and lists, and that the link keeps them.
    page.go("#cases")
    page.browser.find_element(By.CSS_SELECTOR, "main").send_keys("/")
    search = page.browser.switch_to.active_element
    assert search.get_attribute("id") == "search"
    search.send_keys("gemm -cublaslt m=64")
    page.wait("two rows", lambda: len(page.all("[data-table=cases] tbody tr")) == 2)
    assert "q=gemm" in page.run("return location.hash")
    assert page.text("#matches") == "2 of 20"
    link = page.run("return location.href")
    page.browser.get("about:blank")
    page.browser.get(link)
    assert len(page.all("[data-table=cases] tbody tr")) == 2
    search = page.browser.find_element(By.ID, "search")
    search.send_keys(Keys.CONTROL, "a")
    search.send_keys(Keys.DELETE)
    page.wait("all rows", lambda: len(page.all("[data-table=cases] tbody tr")) == rows)
    page.run("const s = document.getElementById('op'); s.value = 'softmax'; s.dispatchEvent(new Event('change'))")
    assert len(page.all("[data-table=cases] tbody tr")) == 6
    page.run("const s = document.getElementById('op'); s.value = ''; s.dispatchEvent(new Event('change'))")

    # Sorting, by the shown order and by what a screen reader is told.
    ratio = [button for button in page.all("[data-table=cases] th button") if button.text == "ratio"][0]
    page.click(ratio)
    column = "return [...document.querySelectorAll('[data-table=cases] tbody tr')].map(r => r.children[3].textContent)"
    down = [float(text.split()[0]) for text in page.run(column) if text != "-"]
    assert down == sorted(down, reverse=True) and len(down) == 9, down
    page.click(ratio)
    assert page.run("return document.querySelector('[data-table=cases] [aria-sort]').getAttribute('aria-sort')") == "ascending"
    up = [text for text in page.run(column)]
    assert up[-1] == "-" and float(up[0].split()[0]) == min(down)

    # The CSV has every row, with full figures.
    page.click(page.all("[data-table=cases] button.csv")[0])
    file = downloads / "etalon-cases.csv"
    page.wait("the download", lambda: file.exists() and file.stat().st_size > 0)
    with file.open(newline="") as text:
        table = list(csv.DictReader(text))
    assert len(table) == rows and {"case_id", "time_ns", "time_ns_lo", "ratio_hi", "clock_mhz"} <= set(table[0]), table[0]
    assert float(table[0]["ratio_lo"]) < float(table[0]["ratio"]) < float(table[0]["ratio_hi"])

    # Hover: exact values, interval, histogram; the same by keyboard.
    cell = page.all("[data-table=cases] td.id a")[0]
    # A card leaves when its row scrolls away, so the row is brought into sight first.
    page.run("arguments[0].scrollIntoView({block: 'center'})", cell)
    time.sleep(0.3)
    webdriver.ActionChains(page.browser).move_to_element(cell).perform()
    page.wait("the card", lambda: page.all("#tip:not([hidden]) svg.bars rect"))
    assert "time (95 %)" in page.text("#tip") and "40 samples" in page.text("#tip"), page.text("#tip")
    page.run("document.activeElement.blur(); document.querySelector('[data-table=cases] td.id a').focus()")
    assert not page.run("return document.getElementById('tip').hidden")

    # One case: history with its change, its cause, and the command that measures it again.
    page.go("#case?id=" + urllib.parse.quote("gemm/bf16/m=64,n=1024,k=4096/etalon/cold", safe=""))
    text = page.text()
    assert "slower" in text and "driver 580.95 -> 590.10" in text, text
    assert "etalon sweep --db again.db --case 'gemm/bf16/m=64,n=1024,k=4096/etalon/cold'" in text
    page.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    copy = page.all("button.copy")[0]
    page.click(copy)
    page.wait("the copy", lambda: copy.text == "Copied")
    assert drawn(page, "main canvas"), "the history is not drawn"
    page.click(page.all("details summary")[0])
    page.wait("the table behind the chart", lambda: len(page.all("[data-table=history] tbody tr")) == 40)

    # Findings: six cases as one, with plots that are drawn when seen.
    page.go("#findings")
    articles = page.all("article.finding")
    assert any("6 of" in article.text and "driver 580.95 -> 590.10" in article.text for article in articles), page.text()
    page.wait("a plot", lambda: page.all("article.finding canvas"))
    assert "Drifts" in page.text()

    # The heat map leads to its case.
    page.go("#ops")
    heat = page.all(".heat button")
    assert len(heat) == 6, len(heat)
    page.click(heat[0])
    assert page.run("return location.hash").startswith("#case?id=gemm")
    page.go("#ops")
    assert len(page.all("[data-table=worst] tbody tr")) == 9

    for address in ["#roofline", "#compare", "#cost", "#overview"]:
        page.go(address)
        page.wait(f"a chart on {address}", lambda: drawn(page, "main canvas"))
    assert "989" in (page.go("#device") or page.text()), "the data sheet is missing"
    assert "driver" in page.text("[data-table=doctor]")
    page.go("#compare")
    assert "580.95" in page.text() and "590.10" in page.text()
    page.check()


def drawn(page, selector):
    """Has the canvas more than one colour?"""
    return page.run("""
        const canvas = document.querySelector(arguments[0]);
        if (!canvas || !canvas.width) return false;
        const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        return new Set(pixels).size > 3;""", selector)


def test_themes(page, pictures):
    for theme in ["light", "dark"]:
        if page.run("return document.documentElement.dataset.theme") != theme:
            page.click(page.browser.find_element(By.ID, "theme"))
        assert page.run("return document.documentElement.dataset.theme") == theme
        for low, high in [("--faint", "--back"), ("--text", "--raised"), ("--better", "--back"), ("--worse", "--back"), ("--faint", "--raised"), ("--accent", "--back")]:
            contrast = page.run(CONTRAST, low, high)
            assert contrast >= 4.5, f"{theme}: {low} on {high} is {contrast:.2f} : 1"
        for width in [1280, 390]:
            page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
            for name in PAGES + ["case?id=" + urllib.parse.quote("gemm/bf16/m=64,n=1024,k=4096/etalon/cold", safe="")]:
                page.go("#" + name)
                page.check()
                if pictures:
                    time.sleep(0.2)
                    shot = page.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
                    (pictures / f"{name.split('?')[0]}-{width}-{theme}.png").write_bytes(base64.b64decode(shot["data"]))
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


CONTRAST = """
    const light = (name) => {
      const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [a, b] = [light(arguments[0]), light(arguments[1])];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);"""


def test_hostile(page, downloads):
    page.visit_all()
    page.go("#cases")
    assert "<b>bold<b>" in page.text() and "\U0001F600" in page.text()
    assert not page.all("main b") and not page.all("main img") and not page.all("main script")
    for row in page.all("[data-table=cases] td.id a"):
        webdriver.ActionChains(page.browser).move_to_element(row).perform()
    page.click(page.all("[data-table=cases] td.id a")[0])
    page.check()
    page.go("#cases")
    page.click(page.all("[data-table=cases] button.csv")[0])
    file = downloads / "etalon-cases.csv"
    page.wait("the download", lambda: file.exists() and file.stat().st_size > 20000)
    with file.open(newline="") as text:
        ids = [row["case_id"] for row in csv.DictReader(text)]
    assert len(ids) == 4 and not any(id[0] in "=+-@" for id in ids), ids
    page.go("#case?id=<img src=x onerror=window.broken=1>")
    assert "No such case" in page.text()
    page.check()


def test_small(page, words):
    page.visit_all()
    page.go("#overview")
    assert words in page.text(), page.text()


def make_pages(etalon, fixture, folder):
    subprocess.run([fixture, folder], check=True)
    doctor = subprocess.run([etalon, "doctor", "--json"], stdout=subprocess.PIPE, text=True).stdout
    (folder / "doctor.json").write_text(json.dumps({"format": "etalon.doctor/1", "findings": json.loads(doctor)["findings"] + [
        {"level": "good", "subject": "driver", "value": "590.10", "effect": "", "mend": ""}]}))
    root = pathlib.Path(__file__).resolve().parents[3]
    cost = subprocess.run([etalon, "cost", "--kernels", root / "results/published/h200_kernels.csv", "--model", "llama-3.1-70b",
                           "--precision", "fp8", "--scales", "static", "--kv", "fp8", "--provider", "trtllm", "--tp", "1,2",
                           "--batch", "4,16,64", "--price", "2.90", "--json"], stdout=subprocess.PIPE, text=True).stdout
    (folder / "cost.json").write_text(cost)
    for name in ["empty", "one", "nights", "hostile"]:
        command = [etalon, "report", "--db", folder / f"{name}.db", "--format", "html", "--out", folder / f"{name}.html"]
        if name == "nights":
            command += ["--cost", folder / "cost.json", "--doctor", folder / "doctor.json", "--compare", "driver=580.95", "driver=590.10"]
        code = subprocess.run(command).returncode
        assert code == (3 if name == "empty" else 0), f"etalon report of {name}.db ended with {code}"


def main():
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("SKIPPED: chromium, chromium-driver or python3-selenium is missing; run ci/setup")
        return 77
    etalon, fixture = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else scratch)
        pictures = folder if len(sys.argv) > 3 else None
        make_pages(etalon, fixture, folder)
        downloads = pathlib.Path(scratch) / "downloads"
        downloads.mkdir()
        browser = start_browser(downloads)
        try:
            test_small(Page(browser, folder / "empty.html"), "No run yet")
            test_small(Page(browser, folder / "one.html"), "no baseline")
            test_nights(Page(browser, folder / "nights.html"), downloads)
            for file in downloads.iterdir():
                file.unlink()
            test_hostile(Page(browser, folder / "hostile.html"), downloads)
            test_themes(Page(browser, folder / "nights.html"), pictures)
        finally:
            browser.quit()
    print("every page held")
    return 0


if __name__ == "__main__":
    sys.exit(main())
