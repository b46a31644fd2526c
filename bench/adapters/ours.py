"""This product, configured through its config.yaml."""
import json, os
from .base import Adapter


class Ours(Adapter):
    name = "ours"
    dist = "hermes"
    driver = "ours_inproc.py"

    def prepare(self, home, base_url, max_turns=None, api_port=None, api_cap=None, auto_approve=False):
        os.makedirs(home, exist_ok=True)
        lines = ["model:", "  default: fake-model", "  provider: custom",
                 f"  base_url: {json.dumps(base_url)}", "  api_key: sk-bench"]
        if max_turns:
            lines += ["agent:", f"  max_turns: {max_turns}"]
        if api_cap is not None:
            lines += ["platforms:", "  api_server:", f"    max_concurrent_runs: {api_cap}"]
        if auto_approve:
            lines += ["approvals:", "  mode: \"off\""]
        with open(os.path.join(home, "config.yaml"), "w") as f:
            f.write("\n".join(lines) + "\n")
        if api_port:
            with open(os.path.join(home, ".env"), "w") as f:
                f.write(f"API_SERVER_ENABLED=true\nAPI_SERVER_HOST=127.0.0.1\nAPI_SERVER_PORT={api_port}\n"
                        f"API_SERVER_KEY={self.api_key}\n")
        return self.env(home, HERMES_HOME=home)

    def oneshot(self, prompt): return self.cmd + ["-z", prompt]
    def chat_once(self, prompt): return self.cmd + ["chat", "-q", prompt]
    def gateway(self): return self.cmd + ["gateway", "run"]
