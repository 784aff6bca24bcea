/** Digests of verifier reports: run in Node and in a page, they must come out the same. */
import { digestOf, loadContract, validateArguments, type JsonObject, type JsonValue } from '@contractrl/core';

export interface ReportCase {
  readonly parameters: JsonValue;
  readonly crossField: JsonValue;
  /** Arguments, to be judged one by one. */
  readonly texts: readonly string[];
}

/** One digest a text, of its report; where the contract is refused, one of the issue. */
export function reportDigests(cases: readonly ReportCase[]): readonly string[] {
  return cases.flatMap(({ parameters, crossField, texts }) => {
    const contract = loadContract({ tool: { name: 'case', parameters }, crossField });
    if (!contract.ok) return [digestOf(contract.error as unknown as JsonObject)];
    return texts.map((text) => digestOf(validateArguments(contract.value, text).report as unknown as JsonObject));
  });
}
