/** Where a value comes from, in words; of an origin that a ledger hides, only that. */
import { assertNever } from '../result.ts';
import type { Origin } from './origin.ts';

/** As in "from the request, characters 16 to 23 (lower-case)"; characters and messages are counted from 1. */
export function formatOrigin(origin: Origin | { readonly hidden: string }): string {
  if ('hidden' in origin) return 'from a place that is hidden';
  switch (origin.kind) {
    case 'model': return 'made up by the model';
    case 'schema-literal': return origin.keywordLocation === undefined ? 'needs no source' : `from the schema at ${origin.keywordLocation}`;
    case 'request': return `from the request${origin.text === 0 ? '' : `, message ${origin.text + 1}`}, characters ${origin.start + 1} to ${origin.end}${inBrackets(origin.derivation)}`;
    case 'context': return `from the state at ${origin.pointer}${inBrackets(origin.derivation)}`;
    case 'candidate': return `from the call at ${origin.pointer}${inBrackets(origin.rule, origin.derivation)}`;
    default: return assertNever(origin);
  }
}

function inBrackets(...steps: readonly (string | undefined)[]): string {
  const named = steps.filter((step) => step !== undefined && step !== 'verbatim');
  return named.length === 0 ? '' : ` (${named.join(', ')})`;
}
