/** The production arm: the repairer as `contractrl repair` uses it, loop, mask, prompt and engine included, under a given adapter. */
import type { Engine, LoraAdapter, Repairer } from '@contractrl/runtime-webgpu';
import type { Arm } from './arm.ts';

export interface ContractRepairParts {
  readonly repairer: Repairer;
  /** The repairer's own engine: arms over one engine take turns with their adapters. */
  readonly engine: Engine;
  /** Undefined for the bare base model. */
  readonly adapter: LoraAdapter | undefined;
}

/** Throws a TypeError where the adapter does not fit the engine. */
export function contractRepair({ name, description }: Pick<Arm, 'name' | 'description'>, { repairer, engine, adapter }: ContractRepairParts): Arm {
  const use = (): void => {
    const used = engine.useAdapter(adapter);
    if (!used.ok) throw new TypeError(`adapter: ${used.error.code}`);
  };
  use();
  return {
    name,
    description,
    identity: repairer.identity(),
    async answer(request, signal) {
      use();
      const { outcome, record } = await repairer.repairToRecord(request, signal instanceof AbortSignal ? { signal } : {});
      return { frozen: outcome.frozen, record };
    },
  };
}
