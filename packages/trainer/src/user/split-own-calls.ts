/**
 * Sides for the tools of one user. By request, since those very tools are to be learnt: each source gives its share, so that recorded calls are looked at too
 * where there are drawn ones. By tool, to see how others are taken to. Either way no request is on both sides, nor a call of the same meaning.
 */
import { canonicalText, digestOfText } from '@contractrl/core';
import { meaningOf, normalText, tightName } from '../audit/normal-form.ts';
import type { splitCalls, SplitCalls } from '../data/split.ts';
import type { LegalCall } from '../legal-call.ts';
import { wholeText } from '../request.ts';

/** Deals `share` of the requests of each source, or of the tools; of two or more at least one is held out, and never all. The same go to the same side under one seed. */
export function splitOwnCalls(by: 'request' | 'tool'): typeof splitCalls {
  return (calls, share, seed): SplitCalls => {
    if (!(share >= 0 && share <= 1)) throw new RangeError(`share: expected a number from 0 to 1, got ${String(share)}`);
    const keyOf = by === 'tool' ? toolOf : requestOf;
    const dealt = by === 'tool' ? [calls] : [...new Set(calls.map(({ source }) => source))].map((source) => calls.filter((call) => call.source === source));
    const held = new Set(dealt.flatMap((some) => heldOut([...new Set(some.map(keyOf))], share, seed)));
    const validation = calls.filter((call) => held.has(keyOf(call)));
    const [requests, meanings] = [new Set(validation.map(requestOf)), new Set(validation.map(meaningIn))];
    const others = calls.filter((call) => !held.has(keyOf(call)));
    const train = others.filter((call) => !requests.has(requestOf(call)) && !meanings.has(meaningIn(call)));
    return { train, validation, leftOut: others.length - train.length };
  };
}

function heldOut(keys: readonly string[], share: number, seed: number): readonly string[] {
  const drawn = keys.map((key) => ({ key, draw: digestOfText(`${String(seed)}:${key}`) })).sort((a, b) => (a.draw < b.draw ? -1 : 1));
  return drawn.slice(0, Math.min(Math.ceil(share * keys.length), keys.length - 1)).map(({ key }) => key);
}

function toolOf({ contract }: LegalCall): string {
  return tightName(contract.document.tool.name);
}

function requestOf({ request }: LegalCall): string {
  return normalText(wholeText(request));
}

function meaningIn({ contract, arguments: args }: LegalCall): string {
  return canonicalText([contract.document.tool.name, meaningOf(args)]);
}
