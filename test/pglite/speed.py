"""speed.py PSQL SOCKET FILE REPEATS: what speed.mjs does, by a server's own count of its seconds of CPU."""
import re
import subprocess
import sys

psql, socket, file, repeats = sys.argv[1:]
parts = re.split(r"^-- (.*)$", open(file, encoding="utf-8").read(), flags=re.MULTILINE)[1:]
script = [parts[1], "SET client_min_messages = log; SET log_statement_stats = on;"]
names = []
for name, sql in zip(parts[2::2], parts[3::2]):
    names += [name] * int(repeats)
    script += [sql] * int(repeats)
said = subprocess.run([psql, "-XqAt", "-h", socket, "-U", "postgres", "-d", "postgres"], input="\n".join(script), text=True, capture_output=True, check=True).stderr
times = [float(user) + float(system) for user, system in re.findall(r"^!\t([0-9.]+) s user, ([0-9.]+) s system, [0-9.]+ s elapsed$", said, flags=re.MULTILINE)]
assert len(times) == len(names), said
for name in dict.fromkeys(names):
    print(f"{name}\t{min(t for n, t in zip(names, times) if n == name):.4f}")
