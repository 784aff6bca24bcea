"""GRPOTrainer of TRL on the CPU, two steps, with rewards from our validator: `smoke_trl.py EXPORT VERL_EXPORT MODEL OUT`.

EXPORT and VERL_EXPORT are folders of `contractrl-train export`, MODEL one with `config.json` and `tokenizer.json`. A random model of that form is trained; OUT
gets its weights, the adapter, and `result.json`: what the tokenizer made of prompts, what was logged, and logits with the adapter for a reader in another
language to compare. The rows for verl are read as verl reads them and judged by its reward function; verl itself is not run.
"""
import json
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"

import datasets
import torch
import transformers
import trl
from peft import LoraConfig

EXPORT, VERL_EXPORT, MODEL, OUT = map(pathlib.Path, sys.argv[1:5])
sys.path.insert(0, str(EXPORT))
import contractrl_reward as contractrl

GROUP = 4
STEPS = 2
PROBED = 3


def read_tokenizer():
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(MODEL / "tokenizer.json"), eos_token="<|im_end|>", pad_token="<|endoftext|>")


def random_model(stop_id):
    """Small weights would give every token the same chance, and no completion an end: these have favourites, and the stop token is one of them."""
    torch.manual_seed(1)
    config = transformers.LlamaConfig(**json.loads((MODEL / "config.json").read_text()), eos_token_id=stop_id)
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.normal_(0, 1)
        model.lm_head.weight.normal_(0, 1)
        model.lm_head.weight[stop_id] *= 3
    return model


def read_verl_rows(tokenizer):
    """As verl's RLHFDataset reads a file, its template given by `data.apply_chat_template_kwargs`."""
    manifest = json.loads((VERL_EXPORT / "manifest.json").read_text())
    rows = datasets.load_dataset("parquet", data_files=str(VERL_EXPORT / "train.parquet"), split="train", cache_dir=str(OUT / "cache"))
    prompts = [tokenizer.apply_chat_template(row["prompt"], add_generation_prompt=True, tokenize=False, chat_template=manifest["chatTemplate"]) for row in rows]
    answers = [json.loads(row["reward_model"]["ground_truth"])["answer"] for row in rows]
    scores = [
        contractrl.compute_score(row["data_source"], answer, row["reward_model"]["ground_truth"], row["extra_info"])
        for row, answer in zip(rows, answers, strict=True)
    ]
    return {"columns": rows.column_names, "prompts": dict(zip((row["extra_info"]["group"] for row in rows), prompts, strict=True)), "scores": scores}


def main():
    torch.set_num_threads(1)
    tokenizer = read_tokenizer()
    model = random_model(tokenizer.eos_token_id)
    model.save_pretrained(OUT / "base")
    rows = datasets.load_dataset("json", data_files=str(EXPORT / "train.jsonl"), split="train", cache_dir=str(OUT / "cache"))
    trainer = trl.GRPOTrainer(
        model=model,
        reward_funcs=contractrl.contractrl_reward,
        args=trl.GRPOConfig(
            output_dir=str(OUT / "run"), max_steps=STEPS, per_device_train_batch_size=GROUP, num_generations=GROUP, max_completion_length=24,
            learning_rate=1e-2, logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, bf16=False, seed=1, disable_tqdm=True,
        ),
        train_dataset=rows,
        processing_class=tokenizer,
        peft_config=LoraConfig(
            r=4, lora_alpha=8, task_type="CAUSAL_LM", target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
        ),
    )
    trainer.train()
    trainer.save_model(str(OUT / "adapter"))
    contractrl.write_prompt_version(OUT / "adapter")

    prompt_ids = [tokenizer(text=row["prompt"])["input_ids"] for row in rows.select(range(PROBED))]
    trained = trainer.model.eval()
    with torch.no_grad():
        logits = [trained(input_ids=torch.tensor([ids])).logits[0, -1].tolist() for ids in prompt_ids]
        with trained.disable_adapter():
            base_logits = [trained(input_ids=torch.tensor([ids])).logits[0, -1].tolist() for ids in prompt_ids]
    result = {
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__, "trl": trl.__version__},
        "log": trainer.state.log_history, "groups": rows["group"][:PROBED], "promptIds": prompt_ids, "logits": logits, "baseLogits": base_logits,
        "verl": read_verl_rows(tokenizer),
    }
    (OUT / "result.json").write_text(json.dumps(result))


main()
