/**
 * Training and validation share neither a tool's name nor a request. Tools are dealt by the digest of their name; a call of a training tool whose request
 * a validation call answers too (a request may ask for several tools) is left out, since it belongs to neither side.
 */
import { digestOfText } from '@contractrl/core';
import { normalText, tightName } from '../audit/normal-form.ts';
import type { LegalCall } from '../legal-call.ts';
import { wholeText } from '../request.ts';
import type { Split } from './example.ts';

export interface SplitCalls {
  readonly train: readonly LegalCall[];
  readonly validation: readonly LegalCall[];
  readonly leftOut: number;
}

/** `validationShare` of the tools, in [0, 1]; the same names go to the same side under one seed. */
export function splitCalls(calls: readonly LegalCall[], validationShare: number, seed: number): SplitCalls {
  if (!(validationShare >= 0 && validationShare <= 1)) throw new RangeError(`validationShare: expected a number from 0 to 1, got ${String(validationShare)}`);
  const isHeldOut = (call: LegalCall): boolean => sideOf(call, validationShare, seed) === 'validation';
  const validation = calls.filter(isHeldOut);
  const requests = new Set(validation.map(({ request }) => normalText(wholeText(request))));
  const others = calls.filter((call) => !isHeldOut(call));
  const train = others.filter(({ request }) => !requests.has(normalText(wholeText(request))));
  return { train, validation, leftOut: others.length - train.length };
}

function sideOf({ contract }: LegalCall, share: number, seed: number): Split {
  const drawn = Number.parseInt(digestOfText(`${String(seed)}:${tightName(contract.document.tool.name)}`).slice(0, 8), 16) / 2 ** 32;
  return drawn < share ? 'validation' : 'train';
}
