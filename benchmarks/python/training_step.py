"""Training steps of a LoRA adapter in PyTorch, as one would take them with transformers and PEFT on a CPU: what our gradient engine is measured against.

    python training_step.py WORK f32|bf16 THREADS

WORK is the file that prepare-work.ts writes. Each line on standard input is the number of a step; each on standard output says how long it took and what it saw,
the first one what is ready. Frozen weights are in the chosen type, parameters in float32, as in mixed-precision training. Examples go through in micro-batches
of four of nearly one length, padded on the right and each with the whole of its prompt. The head is computed for the decisions' positions only, and the loss is over what the mask allowed there.
"""
import contextlib
import json
import resource
import sys
import time

import torch
import transformers
from peft import PeftModel
from safetensors.torch import load_file

MICRO_BATCH = 4
HIDDEN_LOGIT = -1e30

with open(sys.argv[1], encoding="utf-8") as file:
    work = json.load(file)
kind = {"f32": torch.float32, "bf16": torch.bfloat16}[sys.argv[2]]
torch.set_num_threads(int(sys.argv[3]))
compute = contextlib.nullcontext if kind is torch.float32 else lambda: torch.autocast("cpu", dtype=kind)


def open_model():
    base = transformers.LlamaForCausalLM(transformers.LlamaConfig(**work["config"]))
    base.tie_weights()
    left = base.load_state_dict(load_file(work["weightsFile"]), strict=False)
    if left.unexpected_keys or left.missing_keys != ["lm_head.weight"]:
        raise ValueError(str(left))
    model = PeftModel.from_pretrained(base.to(kind), work["adapterFolder"], is_trainable=True)
    model.train()
    return base, model


base, model = open_model()
parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
if any(parameter.dtype is not torch.float32 for parameter in parameters):
    raise TypeError("parameters are not float32")
settings = work["settings"]
optimiser = torch.optim.AdamW(parameters, lr=settings["learningRate"], betas=(0.9, 0.99), eps=1e-8, weight_decay=0.0)


def loss_of(examples, weight):
    lengths = [len(each["promptIds"]) + len(each["answerIds"]) for each in examples]
    ids = torch.zeros((len(examples), max(lengths)), dtype=torch.int64)
    seen = torch.zeros_like(ids)
    rows, columns, targets, choices = [], [], [], []
    for row, each in enumerate(examples):
        ids[row, : lengths[row]] = torch.tensor(each["promptIds"] + each["answerIds"])
        seen[row, : lengths[row]] = 1
        for decision in each["decisions"]:
            rows.append(row)
            columns.append(len(each["promptIds"]) + decision["index"] - 1)
            targets.append(each["answerIds"][decision["index"]])
            choices.append(decision["choice"])
    with compute():
        hidden = base.model(input_ids=ids, attention_mask=seen, use_cache=False).last_hidden_state[rows, columns]
        logits = torch.nn.functional.linear(hidden, base.lm_head.weight).float()
    bias = torch.empty_like(logits)
    for row, choice in enumerate(choices):
        bias[row] = HIDDEN_LOGIT if choice["areAllowed"] else 0.0
        bias[row, choice["ids"]] = 0.0 if choice["areAllowed"] else HIDDEN_LOGIT
    return torch.nn.functional.cross_entropy(logits + bias, torch.tensor(targets), reduction="sum") * weight, ids


def take_step(examples):
    optimiser.zero_grad(set_to_none=True)
    weight = 1 / sum(len(each["decisions"]) for each in examples)
    total = 0.0
    positions = 0
    for first in range(0, len(examples), MICRO_BATCH):
        loss, ids = loss_of(examples[first : first + MICRO_BATCH], weight)
        loss.backward()
        total += loss.item()
        positions += ids.numel()
    torch.nn.utils.clip_grad_norm_(parameters, settings["maxNorm"])
    optimiser.step()
    return total, positions


def peak_bytes():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def say(message):
    print(json.dumps(message), flush=True)


for step in work["steps"]:
    for example in step:
        for decision in example["decisions"]:
            decision["choice"]["ids"] = torch.tensor(decision["choice"]["ids"], dtype=torch.int64)
say({"versions": {"torch": torch.__version__, "transformers": transformers.__version__}})
for line in sys.stdin:
    examples = work["steps"][int(line)]
    started = time.perf_counter()
    loss, positions = take_step(examples)
    say({"ms": 1000 * (time.perf_counter() - started), "loss": loss, "positions": positions, "peakBytes": peak_bytes()})
