/**
 * Sides for the tools of one user, who wants those very tools to be learnt: a request is on one side, and so is a call of the same meaning. Each source gives
 * its share, so that recorded calls are looked at too where there are drawn ones.
 */
import { canonicalText, digestOfText } from '@contractrl/core';
import { meaningOf, normalText } from '../audit/normal-form.ts';
import type { SplitCalls } from '../data/split.ts';
import type { LegalCall } from '../legal-call.ts';
import { wholeText } from '../request.ts';

/** `share` of the requests, in [0, 1]; above 0, at least one of each source that has two. The same requests go to the same side under one seed. */
export function splitByRequest(calls: readonly LegalCall[], share: number, seed: number): SplitCalls {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`share: expected a number from 0 to 1, got ${String(share)}`);
  const held = new Set([...new Set(calls.map(({ source }) => source))].flatMap((source) => {
    const requests = [...new Set(calls.filter((call) => call.source === source).map(requestOf))];
    const dealt = requests.map((request) => ({ request, draw: digestOfText(`${String(seed)}:${request}`) })).sort((a, b) => (a.draw < b.draw ? -1 : 1));
    return dealt.slice(0, Math.min(Math.ceil(share * requests.length), requests.length - 1)).map(({ request }) => request);
  }));
  const validation = calls.filter((call) => held.has(requestOf(call)));
  const meanings = new Set(validation.map(meaningIn));
  const others = calls.filter((call) => !held.has(requestOf(call)));
  const train = others.filter((call) => !meanings.has(meaningIn(call)));
  return { train, validation, leftOut: others.length - train.length };
}

function requestOf({ request }: LegalCall): string {
  return normalText(wholeText(request));
}

function meaningIn({ contract, arguments: args }: LegalCall): string {
  return canonicalText([contract.document.tool.name, meaningOf(args)]);
}
