#!/usr/bin/python3
"""Each format of a report, read back by a strict parser of that format, of results files whose names
and reasons try to break out of it: formats_test.py ETALON PAGE_FIXTURE"""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

etalon, fixture = sys.argv[1:3]
folder = pathlib.Path(tempfile.mkdtemp())


def run(*arguments, code=0, errors="strict"):
    done = subprocess.run([etalon, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
    return done.stdout.decode("utf-8", errors=errors)


def report(name, format, code=0):
    return run("report", "--db", folder / f"{name}.db", "--format", format, code=code)


def check_csv(name, cases):
    rows = list(csv.DictReader(io.StringIO(report(name, "csv"), newline="")))
    assert len(rows) == cases, (name, len(rows))
    for row in rows:
        assert None not in row and None not in row.values(), row
        for value in row.values():
            # A number may begin with a sign; a text may not.
            assert not value.startswith(("=", "@", "\t", "\r")), value[:80]
            assert value[:1] not in "+-" or not value or float(value) is not None, value[:80]
    return rows


def check_junit(name):
    root = xml.fromstring(report(name, "junit").encode())
    assert root.tag == "testsuites"
    for key, element in [("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "testcase")]:
        assert int(root.get(key)) == len(root.findall(f".//{element}")), (name, key)
        for suite in root:
            assert int(suite.get(key)) == len(suite.findall(f".//{element}")), (name, key)
    return root


def check_markdown(name):
    """Every row of a table has the cells of its head, and no text became HTML or a link."""
    text = report(name, "md")
    columns = 0
    for line in text.split("\n"):
        if not line.startswith("|"):
            columns = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line)) - 1
        columns = columns or cells
        assert cells == columns, (name, line[:200])
    without_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)<", without_code), re.search(r".{40}(?<!\\)<.{40}", without_code, re.S)
    return text


def check_svg(text):
    root = xml.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not root.findall(".//{http://www.w3.org/2000/svg}script")
    return root


subprocess.run([fixture, folder], check=True)

rows = check_csv("nights", 20)
assert sum(row["verdict"] == "failed" for row in rows) == 1
assert all(float(row["ratio_lo"]) < float(row["ratio"]) < float(row["ratio_hi"]) for row in rows if row["ratio"])
check_csv("one", 1)
hostile = check_csv("hostile", 4)
assert any(row["case_id"].startswith("'=HYPERLINK") for row in hostile)

assert int(check_junit("nights").get("errors")) == 1
assert int(check_junit("one").get("tests")) == 1
root = check_junit("hostile")
assert int(root.get("errors")) == 1 and int(root.get("failures")) >= 1, root.attrib
names = {case.get("name") for case in root.iter("testcase")}
assert any("<img src=x onerror=window.broken=1>" in name for name in names)
assert any("\u2028line'quote" in name for name in names)

check_markdown("nights"), check_markdown("one")
assert "\\<img src=x" in check_markdown("hostile")
gate = folder / "gate.md"
run("gate", "--db", folder / "hostile.db", "--comment", gate, code=1, errors="replace")
assert "</script>" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", gate.read_text()).replace("\\</script", "")

for name, cases in [("nights", 20), ("one", 1), ("hostile", 4)]:
    assert len(json.loads(report(name, "json"))["cases"]) == cases
for format in ["md", "json", "csv", "junit"]:
    report("empty", format, code=2)

for name, word in [("nights", "1 failed"), ("one", "no baseline"), ("hostile", "slower")]:
    run("report", "--db", folder / f"{name}.db", "--badge", folder / "badge.svg")
    assert word in "".join(check_svg((folder / "badge.svg").read_text()).itertext())
    run("roofline", "--db", folder / f"{name}.db", "--plot", folder / "roof.svg")
    svg = check_svg((folder / "roof.svg").read_text())
    dots = [title for title in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert len(dots) == {"nights": 18, "one": 1, "hostile": 3}[name], (name, len(dots))
    assert ("data sheet" in "".join(svg.itertext())) and ("bf16 data sheet" in "".join(svg.itertext())) == (name != "hostile")

worst = json.loads(run("top", "--db", folder / "nights.db", "--json", "-n", "3"))["cases"]
values = [row["ratio"]["value"] for row in worst]
assert len(values) == 3 and values == sorted(values) and values[0] == min(float(row["ratio"]) for row in rows if row["ratio"])
assert "gemm/bf16/m=64,n=1024,k=4096/etalon/cold" in run("top", "--db", folder / "nights.db")
best = json.loads(run("top", "softmax/*", "--best", "--db", folder / "nights.db", "--json"))["cases"]
assert len(best) == 3 and best[0]["ratio"]["value"] > best[-1]["ratio"]["value"]
assert "no case" in run("top", "--db", folder / "one.db", code=3)
# One clear line for what cannot be: what, and the mend.
(folder / "wrong.json").write_text("[1, 2")
(folder / "steps.json").write_text('{"format": "etalon.cost/1", "steps": []}')
nights = ["report", "--db", folder / "nights.db"]
page = [*nights, "--format", "html", "--out", folder / "page.html"]
for arguments, words in [
    ([*nights, "--format", "html"], "--out report.html"),
    ([*nights, "--format", "csv", "--compare", "run=a", "run=b"], "--format html"),
    ([*nights, "--format", "pdf"], "csv,junit"),
    ([*page, "--cost", folder / "wrong.json"], "etalon cost ... --json"),
    ([*page, "--cost", folder / "steps.json"], "without --explain"),
    ([*page, "--doctor", folder / "nowhere.json"], "nowhere.json"),
    ([*page, "--compare", "driver=580.95", "driver=580.95"], "on both sides"),
    ([*page, "--compare", "driver=1", "driver=590.10"], "driver=1"),
    ([*page, "--run", "nobody"], "nobody"),
    ([*nights, "--badge", "/no/where.svg"], "/no/where.svg"),
    (["roofline", "--db", folder / "nights.db", "--plot", "/no/where.svg"], "/no/where.svg"),
]:
    bad = subprocess.run([etalon, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert bad.returncode == 2 and words in bad.stderr and bad.stderr.count("\n") == 1, (arguments, bad)
print("every format parsed")
