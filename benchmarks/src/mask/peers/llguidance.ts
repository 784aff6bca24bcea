/** llguidance, native, from PyPI: a reference outside the process. Present where `CONTRACTRL_LLGUIDANCE_PYTHON` names a Python that has it. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CONTRACT_CASES, outputsFor, patchSchema } from '../contract-cases.ts';
import type { PreparedCell, SpeedCell } from '../speed.ts';
import { greedyEncoder, type TokenList } from '../vocabularies.ts';

export const LLGUIDANCE = 'llguidance (native)';
const DRIVER = fileURLToPath(new URL('../../../python/llguidance_driver.py', import.meta.url));
/** A whole job is 10 MB of tokens and a few thousand times. */
const MAX_BUFFER_BYTES = 256 * 1024 * 1024;
/** Seconds in which every job measured so far ended many times over. */
const TIMEOUT_MS = 120_000;

interface Answer {
  readonly prepareMs: number;
  readonly cells: readonly Omit<SpeedCell, 'vocabulary' | 'hasStringBound' | 'engine'>[];
}

/** Runs the driver; undefined, with the reason told, where there is no such Python or the driver fails: the reference must not end the run. */
export function measureLlguidance(list: TokenList, outputCount: number, progress: (line: string) => void): { readonly cells: readonly SpeedCell[]; readonly prepared: PreparedCell } | undefined {
  const python = process.env['CONTRACTRL_LLGUIDANCE_PYTHON'];
  if (python === undefined) return undefined;
  const encode = greedyEncoder(list);
  const job = {
    tokens: list.tokens.map((bytes) => (bytes === undefined ? null : Buffer.from(bytes).toString('base64'))),
    stopId: list.stopId,
    cases: CONTRACT_CASES.map((contractCase) => ({
      contract: contractCase.name,
      schema: JSON.stringify(patchSchema(contractCase, '/')),
      outputs: outputsFor(contractCase, outputCount, '/').map((text) => ({ text, ids: encode(text) })),
    })),
  };
  const run = spawnSync(python, [DRIVER], { input: JSON.stringify(job), encoding: 'utf8', maxBuffer: MAX_BUFFER_BYTES, timeout: TIMEOUT_MS });
  if (run.status !== 0) {
    progress(`llguidance left out: ${run.error?.message ?? run.signal ?? run.stderr}`);
    return undefined;
  }
  const { prepareMs, cells } = JSON.parse(run.stdout) as Answer;
  const common = { vocabulary: list.name, engine: LLGUIDANCE };
  return {
    cells: cells.map((cell) => ({ ...cell, ...common, hasStringBound: CONTRACT_CASES.find(({ name }) => name === cell.contract)!.maxLength !== undefined })),
    prepared: { ...common, tokenCount: list.tokens.length, prepareMs: [prepareMs], residentBytes: undefined },
  };
}
