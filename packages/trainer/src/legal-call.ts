/** A call that is right, with the request it answers: what every corruption starts from, whichever data set it comes from. */
import type { Contract, JsonObject, JsonPointer } from '@contractrl/core';
import type { Request } from './request.ts';

export interface LegalCall {
  /** Unique over all data sets: `<source>:<id there>`. */
  readonly id: string;
  readonly source: string;
  readonly request: Request;
  readonly contract: Contract;
  /** Valid under the contract. */
  readonly arguments: JsonObject;
  /** How the request says a value, where that is known: taking these words out takes the value out. */
  readonly mentions?: ReadonlyMap<JsonPointer, string>;
}
