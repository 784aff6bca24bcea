/**
 * `adapter_config.json` of the PEFT library: which linears are adapted, at which rank, with which factor. Each option that would change the
 * arithmetic in a way not known here (DoRA, biases, saved modules, an initialisation that rewrote the base) is refused by its key.
 * Reference: huggingface/peft `src/peft/tuners/lora/config.py`, `src/peft/utils/other.py` (`get_pattern_key`).
 */
import { err, isJsonArray, isJsonObject, ok, parseJson, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import { LINEAR_NAMES, type LinearName } from './adapter.ts';
import type { AdapterIssue } from './issue.ts';

/** Module of each linear within its layer, as Llama and Qwen name them. */
export const MODULES: Readonly<Record<LinearName, string>> = {
  q: 'self_attn.q_proj', k: 'self_attn.k_proj', v: 'self_attn.v_proj', o: 'self_attn.o_proj', gate: 'mlp.gate_proj', up: 'mlp.up_proj', down: 'mlp.down_proj',
};

export interface PeftConfig {
  readonly rank: number;
  readonly alpha: number;
  readonly isRankStabilised: boolean;
  readonly linears: readonly LinearName[];
  readonly rankPattern: ReadonlyMap<string, number>;
  readonly alphaPattern: ReadonlyMap<string, number>;
}

/** Options that are read here or say nothing about the arithmetic at inference. */
const NEUTRAL_KEYS = new Set([
  'peft_type', 'task_type', 'base_model_name_or_path', 'r', 'lora_alpha', 'lora_dropout', 'inference_mode', 'target_modules', 'auto_mapping', 'revision',
  'init_lora_weights', 'peft_version', 'eva_config', 'runtime_config', 'use_rslora', 'rank_pattern', 'alpha_pattern',
  // of methods that have a switch of their own
  'megatron_core', 'qalora_group_size',
  'contractrl',
]);

/** Ways to start training that leave the base model as it was; the others (PiSSA, OLoRA, CorDA, LoftQ) subtract from it. */
const HARMLESS_INITIALISATIONS: readonly JsonValue[] = [true, false, null, 'gaussian', 'eva', 'orthogonal'];

/** What PEFT does not know and keeps or leaves out: `{ "prompt_version": "2" }`. */
export const OWN_KEY = 'contractrl';

/** No larger rank has been useful; one is more likely a damaged file. */
const MAX_RANK = 1024;

export interface PeftExpectations {
  /** The `base_model_name_or_path` that the adapter must have been trained on. */
  readonly base?: string;
  /** The version of the prompt that it must have been trained for. */
  readonly promptVersion?: string;
}

export function readPeftConfig(text: string, { base, promptVersion }: PeftExpectations): Result<PeftConfig, AdapterIssue> {
  const parsed = parseJson(text);
  if (!parsed.ok) return bad('', parsed.error.code);
  const config = parsed.value;
  if (!isJsonObject(config)) return bad('', 'not an object');
  const { peft_type: type, r: rank, lora_alpha: alpha, base_model_name_or_path: trainedOn, use_rslora: rankStabilised = false } = config;
  if (type !== 'LORA') return bad('peft_type', 'not LORA');
  if (!isRank(rank)) return bad('r', `not an integer from 1 to ${MAX_RANK}`);
  if (!isAlpha(alpha)) return bad('lora_alpha', 'not a positive number');
  if (typeof rankStabilised !== 'boolean') return bad('use_rslora', 'not true or false');
  if (!HARMLESS_INITIALISATIONS.includes(config['init_lora_weights'] ?? null)) return bad('init_lora_weights', 'the base model was changed with it');
  const linears = readTargets(config['target_modules']);
  if (!linears.ok) return linears;
  const rankPattern = readPattern(config, 'rank_pattern', isRank);
  if (!rankPattern.ok) return rankPattern;
  const alphaPattern = readPattern(config, 'alpha_pattern', isAlpha);
  if (!alphaPattern.ok) return alphaPattern;
  const active = activeOption(config);
  if (active !== undefined) return bad(active, 'not supported');
  if (base !== undefined && trainedOn !== base) return err({ code: 'adapter/wrong-base', base: String(trainedOn), expected: base });
  const own = config[OWN_KEY] ?? {};
  if (!isJsonObject(own)) return bad(OWN_KEY, 'not an object');
  const named = own['prompt_version'];
  if (named !== undefined && typeof named !== 'string') return bad(OWN_KEY, 'prompt_version is not text');
  if (promptVersion !== undefined && named !== promptVersion) return err({ code: 'adapter/other-prompt', promptVersion: named, expected: promptVersion });
  return ok({ rank, alpha, isRankStabilised: rankStabilised, linears: linears.value, rankPattern: rankPattern.value, alphaPattern: alphaPattern.value });
}

function bad(key: string, detail: string): Result<never, AdapterIssue> {
  return err({ code: 'adapter/bad-config', key, detail });
}

function isRank(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_RANK;
}

function isAlpha(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value > 0;
}

/** A list of linears by name; an expression or a preset would have to be interpreted as PEFT does it. */
function readTargets(value: JsonValue | undefined): Result<readonly LinearName[], AdapterIssue> {
  if (value === undefined || !isJsonArray(value) || value.length === 0) return bad('target_modules', 'not a list of linear layers');
  const linears = LINEAR_NAMES.filter((linear) => value.includes(moduleName(linear)));
  return linears.length === value.length ? ok(linears) : bad('target_modules', `not only linear layers: ${value.map(String).join(', ')}`);
}

/** `q_proj`, `gate_proj` and so on. */
export function moduleName(linear: LinearName): string {
  return MODULES[linear].slice(MODULES[linear].indexOf('.') + 1);
}

/** A module's whole name or its end, at a dot. PEFT takes any expression; what is more than a name is refused. */
const PLAIN_PATTERN = /^[\w.]+$/u;

function readPattern(config: JsonObject, key: 'rank_pattern' | 'alpha_pattern', isValid: (value: JsonValue) => value is number): Result<ReadonlyMap<string, number>, AdapterIssue> {
  const pattern = config[key] ?? {};
  if (!isJsonObject(pattern)) return bad(key, 'not an object');
  const read = new Map<string, number>();
  for (const [name, value] of Object.entries(pattern)) {
    if (!PLAIN_PATTERN.test(name)) return bad(key, `${name} is not a name`);
    if (!isValid(value)) return bad(key, `${name} has no valid value`);
    read.set(name, value);
  }
  return ok(read);
}

/** The first entry that names `module` or the end of its name. */
export function patternValue(pattern: ReadonlyMap<string, number>, module: string): number | undefined {
  for (const [name, value] of pattern) {
    if (module === name || module.endsWith(`.${name}`)) return value;
  }
  return undefined;
}

/** An option that is switched on and not known to be harmless. PEFT writes all its options out, most of them off. */
function activeOption(config: JsonObject): string | undefined {
  const isOff = (value: JsonValue): boolean =>
    value === null || value === false || value === 'none' || (typeof value === 'object' && Object.keys(value).length === 0);
  return Object.keys(config).find((key) => !NEUTRAL_KEYS.has(key) && !isOff(config[key] ?? null));
}
