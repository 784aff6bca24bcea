"""Rewards for repaired tool calls, from the validator that decides in production. For TRL's GRPOTrainer and for verl; needs the standard library alone.

The work is done by one process of Node, `contractrl-train serve-reward`, that is started with the first completion and asked in lines of JSON. It is looked
for in the environment variable CONTRACTRL_TRAIN_COMMAND (a command line, without `serve-reward`), else as `contractrl-train` on the PATH. Where a
`manifest.json` lies beside this file, as in an exported folder, its weights hold, and a runtime with another prompt version is refused.

TRL:    GRPOTrainer(..., reward_funcs=contractrl_reward, train_dataset=load_dataset("json", data_files="train.jsonl", split="train"))
verl:   reward.custom_reward_function.path=contractrl_reward.py reward.custom_reward_function.name=compute_score
"""
import atexit
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import threading


class RewardError(RuntimeError):
    """The server refused a request or could not be asked. `code` is its code; training must not go on with rewards that nobody gave."""

    def __init__(self, code, detail):
        super().__init__(f"{code}: {detail}")
        self.code = code


class RewardServer:
    """One server process, started when it is first asked. Threads take turns; a process that was forked off starts its own."""

    def __init__(self, command=None):
        self._command = command
        self._lock = threading.Lock()
        self._process = None
        self._owner = None
        self._asked = 0

    def ask(self, op, items=()):
        """The server's results, one for each of `items`."""
        with self._lock:
            process = self._running()
            self._asked += 1
            try:
                process.stdin.write(json.dumps({"id": self._asked, "op": op, "items": list(items)}) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except (BrokenPipeError, ValueError):
                line = ""
            if line == "":
                self._process = None
                raise RewardError("server/gone", f"it ended with status {process.wait()}; what it said is on standard error")
            answer = json.loads(line)
            if answer["id"] != self._asked:
                self.close_locked()
                raise RewardError("server/out-of-step", f"asked {self._asked}, answered {answer['id']}")
        if not answer["ok"]:
            raise RewardError(answer["error"]["code"], json.dumps(answer["error"]))
        return answer["results"]

    def close(self):
        with self._lock:
            self.close_locked()

    def close_locked(self):
        """As `close`, for whoever has the lock."""
        if self._process is not None and self._owner == os.getpid():
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
        self._process = None

    def _running(self):
        if self._process is None or self._owner != os.getpid():
            self._owner = os.getpid()
            command = self._command or default_command()
            # surrogates are escaped by json, so that any text that a tokenizer decodes can be asked about
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", bufsize=1)
        return self._process


def default_command():
    """The server's command line, with the manifest beside this file where there is one."""
    given = os.environ.get("CONTRACTRL_TRAIN_COMMAND")
    found = shlex.split(given) if given else [shutil.which("contractrl-train")]
    if found[0] is None:
        raise RewardError("server/not-found", "set CONTRACTRL_TRAIN_COMMAND to the command line of contractrl-train, or put it on the PATH")
    manifest = manifest_file()
    return [*found, "serve-reward", *(["--manifest", str(manifest)] if manifest else [])]


def manifest_file():
    path = pathlib.Path(__file__).resolve().with_name("manifest.json")
    return path if path.exists() else None


_server = RewardServer()
atexit.register(_server.close)


def rewards_of(tasks, texts, token_counts, server=None):
    """What the server says of one completion each: dictionaries with `reward` and what it is made of (end, status, reason, collateral, retries, refused, tokens)."""
    items = [
        {"task": task, "completions": [{"text": text, "tokenCount": count}]}
        for task, text, count in zip(tasks, texts, token_counts, strict=True)
    ]
    return (server or _server).ask("rewards", items)


def contractrl_reward(completions, completion_ids, task, log_metric=None, **_):
    """Reward function of TRL: one number a completion. `task` is the column of that name; completions may be texts or lists of messages."""
    texts = [completion if isinstance(completion, str) else completion[-1]["content"] for completion in completions]
    results = rewards_of(task, texts, [len(ids) for ids in completion_ids])
    if log_metric is not None:
        log_metric("contractrl/success", sum(result["end"] in ("right", "abstained-rightly") for result in results) / len(results))
        log_metric("contractrl/refused", sum(result["refused"] for result in results) / len(results))
    return [result["reward"] for result in results]


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    """Custom reward function of verl: `score` and what it is made of. verl hands over no token ids, so T is 0 and λy has no effect."""
    result = rewards_of([ground_truth], [solution_str], [0])[0]
    return {
        "score": result["reward"], "acc": float(result["end"] in ("right", "abstained-rightly")), "end": result["end"],
        "collateral": result["collateral"], "refused": result["refused"],
    }


def write_prompt_version(adapter_folder, prompt_version=None):
    """Names the prompt version in `adapter_config.json`, so that the runtime refuses the adapter under another wording. Default: the manifest's."""
    if prompt_version is None:
        manifest = manifest_file()
        if manifest is None:
            raise RewardError("manifest/missing", "there is no manifest.json beside this file: name the prompt version")
        prompt_version = json.loads(manifest.read_text(encoding="utf-8"))["promptVersion"]
    path = pathlib.Path(adapter_folder) / "adapter_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["contractrl"] = {"prompt_version": prompt_version}
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
