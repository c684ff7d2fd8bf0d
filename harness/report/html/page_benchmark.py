#!/usr/bin/python3
"""How large the page of 10 000 cases x 365 nights is, and how long Chromium takes to open it:
page_benchmark.py ETALON PAGE_FIXTURE [CASES NIGHTS]

One case in ten moves by 3 % some night. Run by hand: it needs a free core or two for some minutes.
Prints measured against goal (15 MiB, 3 s) and ends with PASS or FAIL.
"""
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

import html_test


def build(fixture, folder, cases, nights):
    """Rows straight into the schema: as the store would leave them, in seconds instead of minutes."""
    subprocess.run([fixture, folder], check=True)
    path = folder / "years.db"
    (folder / "one.db").rename(path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    random.seed(1)
    names = [f"gemm/{('bf16', 'fp8', 'fp16', 'int8')[i % 4]}/m={i // 400 + 1},n={i // 8 % 50 + 1},k=4096/{('etalon', 'cublaslt')[i // 4 % 2]}/cold" for i in range(cases)]
    database.executemany("INSERT INTO cases (id, case_id) VALUES (?, ?)", [(1000 + i, name) for i, name in enumerate(sorted(set(names)))])
    ids = [row[0] for row in database.execute("SELECT id FROM cases WHERE id >= 1000 ORDER BY id")]
    run_columns = [row[1] for row in database.execute("PRAGMA table_info(runs)")]
    row_columns = [row[1] for row in database.execute("PRAGMA table_info(measurements)")]
    run = dict(zip(run_columns, database.execute("SELECT * FROM runs").fetchone()))
    row = dict(zip(row_columns, database.execute("SELECT * FROM measurements").fetchone()))
    insert_run = f"INSERT INTO runs VALUES ({','.join('?' * len(run_columns))})"
    insert = f"INSERT INTO measurements VALUES ({','.join('?' * len(row_columns))})"
    next_id = 1000
    for night in range(nights):
        at = time.strftime("%Y-%m-%dT02:00:00.000Z", time.gmtime(1767232800 + 86400 * night))
        database.execute(insert_run, list({**run, "id": 1000 + night, "run_id": f"year{night:08}", "started_at": at, "finished_at": at, "revision": f"{night // 3:07x}"}.values()))
        rows = []
        for i, case in enumerate(ids):
            level = (5e4 + 10 * i) * (1.03 if i % 10 == 0 and night >= (i * 7) % max(1, nights - 65) + 30 else 1)
            value = level * random.lognormvariate(0, 0.003)
            rows.append(list({**row, "id": next_id, "run": 1000 + night, "case_key": case, "norm_time_ns": value, "norm_lo_ns": 0.999 * value, "norm_hi_ns": 1.001 * value,
                              "time_ns": 1.1 * value, "time_lo_ns": 1.099 * value, "time_hi_ns": 1.101 * value, "measured_at": at,
                              # Samples of the nights before are not in a page.
                              "samples": row["samples"] if night == nights - 1 else None, "sample_count": row["sample_count"] if night == nights - 1 else 0}.values()))
            next_id += 1
        database.executemany(insert, rows)
    last = 1000 + nights - 1
    database.executemany("INSERT INTO ratios VALUES (?, ?, ?, 0, ?, ?, ?)", [(last, a, b, 1.1, 1.09, 1.11) for a, b in zip(ids[::2], ids[1::2])])
    database.commit()
    database.close()
    return path, len(ids)


def opening_s(browser, path):
    """From the wish to go there until the page has drawn its first view."""
    began = time.monotonic()
    browser.get(path.as_uri())
    assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    return time.monotonic() - began


def main():
    etalon, fixture = sys.argv[1:3]
    cases, nights = (int(text) for text in (sys.argv[3:5] or ("10000", "365")))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        database, count = build(fixture, folder, cases, nights)
        page = folder / "years.html"
        began = time.monotonic()
        subprocess.run([etalon, "report", "--db", database, "--format", "html", "--out", page], check=True)
        made_s = time.monotonic() - began
        browser = html_test.start_browser(folder)
        try:
            openings = sorted(opening_s(browser, page) for _ in range(5))
            tabs = {}
            for name in html_test.PAGES:
                began = time.monotonic()
                browser.execute_script("location.hash = arguments[0]", "#" + name)
                browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
                tabs[name] = time.monotonic() - began
        finally:
            browser.quit()
        size = page.stat().st_size / 2**20
        print(f"{count} cases x {nights} nights, a file of {database.stat().st_size / 1e9:.2f} GB; page made in {made_s:.1f} s")
        print(f"size of the page       {size:.2f} MiB   goal 15 MiB")
        print(f"opening, median of 5   {openings[2]:.2f} s     goal 3 s   (worst {openings[-1]:.2f} s)")
        print("turning to a tab       " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in tabs.items()))
        good = size <= 15 and openings[2] <= 3
        print("PASS" if good else "FAIL")
        return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
