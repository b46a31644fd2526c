"""The results as a table beside the goals: table.py OURS.json [OTHER.json]."""
import json, sys


def at(data, *keys):
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    return data.get("median") if isinstance(data, dict) and "median" in data else data


ROWS = [
    ("P1", "--version, wall ms", ("a", "version", "wall_s"), 1e3, "<= 40"),
    ("P2", "start to first request, ms", ("b", "start_to_first_request_s"), 1e3, "<= 250"),
    ("P3", "one-shot, wall s", ("b", "wall_s"), 1, "<= 0.4"),
    ("P3", "one-shot, CPU s", ("b", "cpu_s"), 1, "<= 0.35"),
    ("P3", "one-shot, peak RSS MB", ("b", "peak_rss_mb"), 1, "<= 55"),
    ("P4", "CPU per model call, N=100, ms", ("d", "100", "cpu_per_iteration_ms"), 1, "<= 3"),
    ("P4", "CPU per model call, N=300, ms", ("d", "300", "cpu_per_iteration_ms"), 1, "<= 1.15 x N=100"),
    ("P4", "gap between calls, N=300, ms", ("d", "300", "gap_median_ms"), 1, ""),
    ("P5", "first request, bytes", ("c", "request_bytes"), 1, "<= 16000"),
    ("P5", "tools offered", ("c", "n_tools"), 1, ""),
    ("P6", "8 x sleep 1, s", ("e", "8 x sleep 1"), 1, "<= 1.3"),
    ("P6", "8 x grep -r, s", ("e", "8 x grep -r"), 1, ""),
    ("P6", "8 x grep -r, a write in the middle, s", ("e", "8 x grep -r, a write in the middle"), 1, ""),
    ("P7", "RSS after import, MB", ("f", "rss_after_import_mb"), 1, "<= 32"),
    ("P7", "RSS per live session, kB", ("f", "50_agents_after_1_turns", "per_agent_kb"), 1, "<= 80"),
    ("P11", "inserts per s, synced", ("h", "insert_rate_per_s"), 1, ">= 5000"),
    ("P11", "search, common word, ms", ("h", "search", "common_word", "ms"), 1, "<= 10"),
    ("P11", "search, rare word, ms", ("h", "search", "rare_unique", "ms"), 1, ""),
    ("P14", "prefix kept in a turn", ("k", "within_turn_canonical"), 1, "1.0"),
    ("P14", "prefix kept, other directory", ("k", "across_sessions", "other_dir", "common_prefix_fraction"), 1, "stable tier"),
    ("P15", "packages", ("l", "packages"), 1, "<= 32"),
    ("P15", "MB without .pyc", ("l", "env_mb_without_pyc"), 1, "<= 62"),
    ("P15", "lines", ("l", "product_py_lines"), 1, "<= 45000"),
]


def shown(value, scale):
    if value is None:
        return "-"
    value *= scale
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


results = [json.load(open(name))["workloads"] for name in sys.argv[1:]]
print("| id | what | ours | goal |" + " peer |" * (len(results) - 1))
print("|---|---|---|---|" + "---|" * (len(results) - 1))
for key, what, path, scale, goal in ROWS:
    cells = [shown(at(one, *path), scale) for one in results]
    print(f"| {key} | {what} | {cells[0]} | {goal} |" + "".join(f" {c} |" for c in cells[1:]))
