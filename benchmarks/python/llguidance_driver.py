"""llguidance (native) on the contracts of the mask benchmark: the same schemas, outputs and order of calls as the engines in Node.

Reads a job from standard input and writes the times to standard output, both JSON. Needs only llguidance itself.
"""
import base64
import ctypes
import json
import sys
import time
from importlib.metadata import version

import llguidance

WARM_UP_OUTPUTS = 4
LONGEST_TRIED = 24


class Tokens:
    """What llguidance asks of a tokenizer: text is split into the longest tokens, from the left, as for the engines in Node."""

    def __init__(self, tokens, stop_id):
        self.tokens = [b"\xff<special>" if token is None else base64.b64decode(token) for token in tokens]
        self.special_token_ids = [index for index, token in enumerate(tokens) if token is None]
        self.eos_token_id = stop_id
        self.bos_token_id = None
        self.ids = {token: index for index, token in enumerate(self.tokens) if tokens[index] is not None}

    def __call__(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        found, offset = [], 0
        while offset < len(data):
            length = min(LONGEST_TRIED, len(data) - offset)
            while length > 1 and data[offset : offset + length] not in self.ids:
                length -= 1
            found.append(self.ids.get(data[offset : offset + length], 0))
            offset += length
        return found


def elapsed(start, scale):
    return round((time.perf_counter_ns() - start) / scale, 2)


def walk(tokenizer, schema, ids, cell):
    start = time.perf_counter_ns()
    grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
    matcher = llguidance.LLMatcher(tokenizer, grammar)
    compile_ms = elapsed(start, 1e6)
    if matcher.is_error():
        raise SystemExit(matcher.get_error())
    words = (ctypes.c_uint32 * ((tokenizer.vocab_size + 31) // 32))()
    address, size = ctypes.addressof(words), ctypes.sizeof(words)
    masks, accepts, first = [], [], None
    for token in ids:
        began = time.perf_counter_ns()
        matcher.unsafe_compute_mask_ptr(address, size)
        masks.append(elapsed(began, 1e3))
        first = elapsed(start, 1e6) if first is None else first
        if not words[token >> 5] >> (token & 31) & 1:
            return False
        began = time.perf_counter_ns()
        is_accepted = matcher.consume_token(token)
        accepts.append(elapsed(began, 1e3))
        if not is_accepted:
            return False
    cell["compileMs"].append(compile_ms)
    cell["firstMaskMs"].append(first)
    cell["maskUs"].extend(masks)
    cell["acceptUs"].extend(accepts)
    return True


def new_cell():
    return {"compileMs": [], "startUs": [], "firstMaskMs": [], "maskUs": [], "acceptUs": [], "refusedOutputs": []}


def main():
    job = json.load(sys.stdin)
    tokens = Tokens(job["tokens"], job["stopId"])
    start = time.perf_counter_ns()
    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(tokens))
    prepare_ms = elapsed(start, 1e6)
    first_case = job["cases"][0]
    for output in first_case["outputs"][:WARM_UP_OUTPUTS]:
        walk(tokenizer, first_case["schema"], output["ids"], new_cell())
    cells = []
    for case in job["cases"]:
        cell = new_cell()
        for output in case["outputs"]:
            if not walk(tokenizer, case["schema"], output["ids"], cell):
                cell["refusedOutputs"].append(output["text"])
        cells.append({"contract": case["contract"], **cell})
    json.dump({"version": version("llguidance"), "prepareMs": prepare_ms, "cells": cells}, sys.stdout)


main()
