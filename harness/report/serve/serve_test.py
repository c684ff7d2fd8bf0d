#!/usr/bin/python3
"""Runs `etalon serve` and asks it as a browser, a script and an attacker would:
serve_test.py ETALON PAGE_FIXTURE"""
import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as xml

etalon, fixture = sys.argv[1:3]
folder = pathlib.Path(tempfile.mkdtemp())
subprocess.run([fixture, folder], check=True)


class Served:
    def __init__(self, database, *options):
        self.child = subprocess.Popen([etalon, "serve", "--db", folder / database, "--port", "0", *options],
                                      stdout=subprocess.PIPE, text=True)
        line = self.child.stdout.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line).group(1))

    def ask(self, target, method="GET", headers={}, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, target, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer, text

    def json(self, target, status=200):
        answer, text = self.ask(target)
        assert answer.status == status, (target, answer.status, text[:300])
        assert answer.headers["content-type"] == "application/json"
        return json.loads(text)

    def end(self):
        self.child.send_signal(signal.SIGTERM)
        assert self.child.wait(20) == 0


before = (folder / "nights.db").read_bytes()
served = Served("nights.db")

# The page, under the policy that it carries, and nothing cached or framed.
answer, page = served.ask("/")
assert answer.status == 200 and page.startswith(b"<!doctype html>") and b"run0039" in page
policy = answer.headers["content-security-policy"]
assert "default-src 'none'" in policy and "script-src 'sha256-" in policy and "frame-ancestors 'none'" in policy
assert "unsafe" not in policy and policy.split("; frame")[0].encode() in page
for header, value in [("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"), ("cache-control", "no-store")]:
    assert answer.headers[header] == value
assert b"run0010" in served.ask("/?run=run0010")[1]

# Every route of the JSON API, by its format.
assert len(served.json("/api/runs")["runs"]) == 40
assert len(served.json("/api/cases")["cases"]) == 20
for target, format in [("/api/report", "report"), ("/api/report?run=run0003", "report"), ("/api/page", "page"), ("/api/top?limit=2", "top"),
                       ("/api/roofline", "roofline"), ("/api/findings", "findings"), ("/api/gate", "gate"),
                       ("/api/history?case=gemm/*&limit=5", "history"), ("/api/history?case=gemm%2Fbf16%2F*", "history"),
                       ("/api/compare?a=driver=580.95&b=driver%3D590.10", "compare")]:
    assert served.json(target)["format"] == f"etalon.{format}/1", target
assert len(served.json("/api/top?limit=2")["cases"]) == 2
assert len(served.json("/api/findings")["findings"]) >= 1
assert served.json("/api/compare?a=driver=580.95&b=driver=590.10")["counts"]["slower"] >= 6
assert len(served.json("/api/history?case=*&limit=5")["cases"][0]["points"]) == 5
assert b"# etalon report" in served.ask("/report.md")[1]
assert served.ask("/report.csv")[1].count(b"\n") == 21
xml.fromstring(served.ask("/report.xml")[1]), xml.fromstring(served.ask("/badge.svg")[1])

# What is not there, is badly asked, or would write.
for target in ["/etc/passwd", "/../nights.db", "/..%2f..%2fetc%2fpasswd", "/nights.db", "/api", "/api/runs/", "//", "/%00"]:
    answer, text = served.ask(target)
    assert answer.status == 404 and "error" in json.loads(text), (target, answer.status)
for target in ["/api/report?run=nobody", "/api/history", "/api/history?case=nothing", "/api/top?limit=-1", "/api/top?limit=9999999999999999999999",
               "/api/compare?a=driver=1", "/api/compare?a=bad&b=bad", "/?runn=1", "/api/runs?x=1", "/?run=%zz", "/?run=%", "/?run=a&run=b",
               "/?run=<script>", "/?run='%20OR%201=1"]:
    error = served.json(target.replace(" ", "%20"), 400)["error"]
    assert "\n" not in error and error, target
for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]:
    answer, _ = served.ask("/api/runs", method, body=b"x=1" if method != "TRACE" else None)
    assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD", (method, answer.status)
answer, text = served.ask("/", "HEAD")
assert answer.status == 200 and text == b"" and int(answer.headers["content-length"]) > 100000

# A site whose name is pointed at this address.
answer, text = served.ask("/", headers={"Host": "evil.example"})
assert answer.status == 421 and b"run0039" not in text
assert served.ask("/api/runs", headers={"Host": f"localhost:{served.port}"})[0].status == 200

# No HTTP, a head without end, a connection that says nothing: none hinders the others.
for bytes_sent in [b"\x00\xff\x00\xff\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"a" * 100000 + b"\r\n\r\n", b""]:
    raw = socket.create_connection(("127.0.0.1", served.port))
    try:
        raw.sendall(bytes_sent)
    except ConnectionError:
        pass
    assert served.ask("/api/runs")[0].status == 200
    raw.close()
answers = []
many = [threading.Thread(target=lambda: answers.append(served.ask("/api/report")[0].status)) for _ in range(24)]
[each.start() for each in many], [each.join() for each in many]
assert answers == [200] * 24

# The port is taken.
taken = subprocess.run([etalon, "serve", "--db", folder / "one.db", "--port", str(served.port)], stderr=subprocess.PIPE, text=True)
assert taken.returncode == 2 and "cannot listen" in taken.stderr and taken.stderr.count("\n") == 1, taken
served.end()
assert (folder / "nights.db").read_bytes() == before, "the file was written to"

for arguments, words in [(["--host", "example.org"], "is not an address"), (["--db", "nowhere.db"], "nowhere.db")]:
    own = [] if "--db" in arguments else ["--db", folder / "one.db"]
    bad = subprocess.run([etalon, "serve", *own, *arguments], stderr=subprocess.PIPE, text=True)
    assert bad.returncode == 2 and words in bad.stderr and bad.stderr.count("\n") == 1, bad

empty = Served("empty.db")
assert b"etalon" in empty.ask("/")[1] and empty.json("/api/runs")["runs"] == []
empty.json("/api/report", 400)
empty.end()

hostile = Served("hostile.db")
answer, text = hostile.ask("/")
assert b"</script><script>window" not in text
assert len(hostile.json("/api/report")["cases"]) == 4
hostile.end()
print("served and refused as documented")
