"""
Asks llguidance which texts belong to a Lark grammar. Standard input: {"cases": [{"grammar", "texts"}]}; standard output: a list with
{"error"} or {"accepted": [bool]} for each case. The tokenizer holds the 256 bytes and a stop token, so no vocabulary is needed.
"""
import json
import sys

from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper


class Bytes:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<stop>"]
    eos_token_id = 256
    bos_token_id = None
    special_token_ids = [256]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode("utf-8"))


def check(tokenizer, case):
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(case["grammar"]))
    if matcher.is_error():
        return {"error": matcher.get_error()}
    return {"accepted": [accepts(matcher, text.encode("utf-8")) for text in case["texts"]]}


def accepts(matcher, text):
    matcher.reset()
    return matcher.try_consume_tokens(list(text)) == len(text) and matcher.is_accepting()


if __name__ == "__main__":
    tokenizer = LLTokenizer(TokenizerWrapper(Bytes()), slices=[])
    json.dump([check(tokenizer, case) for case in json.load(sys.stdin)["cases"]], sys.stdout)
