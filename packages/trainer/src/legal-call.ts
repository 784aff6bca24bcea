/** A call that is right, with the request it answers: what every corruption starts from, whichever data set it comes from. */
import type { Contract, JsonObject, JsonPointer } from '@contractrl/core';

export interface LegalCall {
  /** Unique over all data sets: `<source>:<id there>`. */
  readonly id: string;
  readonly source: string;
  /** What the user asked, as one text. */
  readonly request: string;
  readonly contract: Contract;
  /** Valid under the contract. */
  readonly arguments: JsonObject;
  /** How the request says a value, where that is known: taking these words out takes the value out. */
  readonly mentions?: ReadonlyMap<JsonPointer, string>;
}
