/**
 * The deterministic arm: Ajv with `coerceTypes`, `useDefaults` and `removeAdditional`, as many tool layers run it, and no model.
 * It declines text that is not JSON and values that are still invalid after coercion.
 */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { cloneJson, parseJson, type Contract, type RepairRequest } from '@contractrl/core';
import type { Arm, Clock } from './arm.ts';
import { NO_COST, singleShot, type Shot } from './single-shot.ts';

const OPTIONS = { strict: false, coerceTypes: true, useDefaults: true, removeAdditional: true, ownProperties: true, logger: false } as const;

export function ajvCoercion(clock: Clock): Arm {
  return singleShot({
    name: 'ajv-coercion',
    description: 'Ajv 8 with `coerceTypes: true`, `useDefaults: true`, `removeAdditional: true`: deterministic, no model. What is still invalid afterwards is declined.',
    identity: { method: 'ajv-coercion', ...OPTIONS },
    shoot: (contract, request) => Promise.resolve(coerce(contract, request)),
  }, clock);
}

function coerce(contract: Contract, request: RepairRequest): Shot {
  const original = parseJson(request.call.argumentsText);
  if (!original.ok) return { kind: 'declined', reason: 'coercion/unreadable', cost: NO_COST };
  const ajv = contract.dialect === 'draft-07' ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  formats.default(ajv);
  // Ajv changes its input in place, below the root only.
  const copy = cloneJson(original.value);
  const isValid = ajv.compile(contract.document.tool.parameters)(copy);
  if (!isValid) return { kind: 'declined', reason: 'coercion/still-invalid', cost: NO_COST };
  return { kind: 'text', text: JSON.stringify(copy), isComplete: true, cost: NO_COST };
}
