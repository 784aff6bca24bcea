/** The production arm: the repairer as `contractrl repair` uses it, loop, mask, prompt and engine included, under a given adapter. */
import type { Engine, LoraAdapter, MaskRules, ProposerOptions, Repairer } from '@contractrl/runtime-webgpu';
import type { Arm } from './arm.ts';

export interface ContractRepairParts {
  readonly repairer: Pick<Repairer, 'identity' | 'repairToRecord'>;
  /** The repairer's own engine: arms over one engine take turns with their adapters. */
  readonly engine: Engine;
  /** Undefined for the bare base model. */
  readonly adapter: LoraAdapter | undefined;
  /** Undefined for the product's own. */
  readonly rules?: MaskRules & Pick<ProposerOptions, 'provenance'>;
  /** Whether the deterministic step comes before the model; without it, the model alone is measured. */
  readonly deterministic: boolean;
}

/** The mask of the papers: a patch may close whatever it leaves, and may change nothing. */
export const PAPER_RULES: MaskRules = { excludeNoOps: false, goal: false };

/** Every operation changes something, and a patch closes only where it makes the call valid. */
export const GOAL_RULES: MaskRules = { excludeNoOps: true, goal: true };

/** Throws a TypeError where the adapter does not fit the engine. */
export function contractRepair({ name, description }: Pick<Arm, 'name' | 'description'>, { repairer, engine, adapter, rules, deterministic }: ContractRepairParts): Arm {
  const use = (): void => {
    const used = engine.useAdapter(adapter);
    if (!used.ok) throw new TypeError(`adapter: ${used.error.code}`);
  };
  use();
  return {
    name,
    description,
    output: 'patch',
    identity: { ...repairer.identity(rules), deterministic },
    async answer(request, signal) {
      use();
      const { outcome, record } = await repairer.repairToRecord(request, { ...rules, deterministic, ...(signal instanceof AbortSignal ? { signal } : {}) });
      return { frozen: outcome.frozen, record };
    },
  };
}
