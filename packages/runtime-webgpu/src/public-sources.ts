/** What of an observation counts as given: the texts of the request, the scalars of the public context, and the candidate. */
import { isJsonArray, isJsonObject, type JsonValue, type Observation } from '@contractrl/core';
import type { ProvenanceSources } from '@contractrl/core/schema';

/** Every message counts, whoever speaks: a verifier's or a tool's words are as public as the user's. */
export function publicSources({ request, context, state }: Observation): ProvenanceSources {
  return { texts: [...request.map(({ content }) => content), ...scalarsIn(context)], candidate: state.candidate };
}

function scalarsIn(value: JsonValue): readonly string[] {
  if (isJsonArray(value) || isJsonObject(value)) return Object.values(value as Readonly<Record<string, JsonValue>>).flatMap(scalarsIn);
  return value === null ? [] : [String(value)];
}
