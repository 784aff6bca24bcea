/**
 * What a contract's schema says of a place, found from what it says of the container: the answers of `schema-at.ts` and `schema.ts`, one step
 * at a time and each step once for all documents. Like places of two documents have the same point, so that a document which differs from
 * another along one path takes over all that is known of the rest.
 */
import { isJsonArray, type JsonValue } from '../json/value.ts';
import { ROOT_POINTER } from '../pointer.ts';
import { ok, type Result } from '../result.ts';
import type { Contract } from './contract.ts';
import { declaredNames, expandSites, isUnionFree, prohibits, rootSiteOf, sitesBelow, type SchemaSite } from './schema-at.ts';
import { openPlace, placeBelow, rootPlaceOf, type SchemaPlace } from './schema.ts';
import type { UnsupportedKeyword } from './schema-node.ts';
import type { Alternatives } from './schema-reader.ts';

/** Points kept below one point, or of one contract with unions. Beyond it, under ever new names of an open map, nothing is shared. */
const MAX_KNOWN_POINTS = 4096;

export class SchemaPoint {
  readonly #contract: Contract;
  /** Above the keywords that apply in place. */
  readonly #readSites: () => readonly SchemaSite[];
  readonly #readPlace: () => Result<SchemaPlace, UnsupportedKeyword>;
  readonly #known: Map<string | number, SchemaPoint>;
  #sites: readonly SchemaSite[] | undefined;
  #place: Result<SchemaPlace, UnsupportedKeyword> | undefined;
  #opened: Result<Alternatives, UnsupportedKeyword> | undefined;
  #isProhibited: boolean | undefined;
  #names: readonly string[] | undefined;

  constructor(
    contract: Contract, readSites: () => readonly SchemaSite[], readPlace: () => Result<SchemaPlace, UnsupportedKeyword>, known: Map<string | number, SchemaPoint> = new Map(),
  ) {
    this.#contract = contract;
    this.#readSites = readSites;
    this.#readPlace = readPlace;
    this.#known = known;
  }

  /** Where the grammar of values reads what may stand here. */
  get place(): Result<SchemaPlace, UnsupportedKeyword> {
    return this.#place ??= this.#readPlace();
  }

  /** Whether the schema declares plainly that nothing may stand here, where `value` stands now. */
  prohibits(value: JsonValue | undefined): boolean {
    return isUnionFree(this.#contract) ? this.#isProhibited ??= prohibits(this.#sitesAround(value)) : prohibits(this.#sitesAround(value));
  }

  /** Names that the schema declares for members of `value`, which stands here. */
  namesIn(value: JsonValue): readonly string[] {
    return isUnionFree(this.#contract) ? this.#names ??= declaredNames(this.#sitesAround(value)) : declaredNames(this.#sitesAround(value));
  }

  /** The point of a member or element of `container`, which stands here. */
  below(container: JsonValue, token: string): SchemaPoint {
    const opened = this.#opened ??= this.place.ok ? openPlace(this.#contract.schema, this.place.value, ROOT_POINTER) : this.place;
    const readSites = (within: JsonValue, name: string) => (): readonly SchemaSite[] => sitesBelow(this.#sitesAround(within, name), within, name);
    const readPlace = (within: JsonValue, name: string) => (): Result<SchemaPlace, UnsupportedKeyword> => (opened.ok ? ok(placeBelow(opened.value, within, name)) : opened);
    if (isUnionFree(this.#contract) && (!opened.ok || opened.value.length < 2)) {
      // nothing depends on the values beside the place, and no document is held on to
      const index = isJsonArray(container) ? (token === '-' ? container.length : Number(token)) : undefined;
      const [within, name] = index === undefined ? [{}, token] : [[], String(index)];
      return this.#take(index ?? token, () => new SchemaPoint(this.#contract, readSites(within, name), readPlace(within, name)));
    }
    const [sites, place] = [readSites(container, token)(), readPlace(container, token)()];
    const key = JSON.stringify([sites.map(({ keywordLocation, isConditional }) => [keywordLocation, isConditional]), place.ok ? place.value.key : null]);
    return this.#take(key, () => new SchemaPoint(this.#contract, () => sites, () => place, this.#known));
  }

  #sitesAround(value: JsonValue | undefined, nextToken?: string): readonly SchemaSite[] {
    return expandSites(this.#contract, this.#sites ??= this.#readSites(), value, nextToken);
  }

  #take(key: string | number, create: () => SchemaPoint): SchemaPoint {
    let point = this.#known.get(key);
    if (point === undefined) {
      point = create();
      if (this.#known.size < MAX_KNOWN_POINTS) this.#known.set(key, point);
    }
    return point;
  }
}

const roots = new WeakMap<Contract, SchemaPoint>();

/** The point of whole documents. */
export function rootPointOf(contract: Contract): SchemaPoint {
  let root = roots.get(contract);
  if (root === undefined) roots.set(contract, root = new SchemaPoint(contract, () => [rootSiteOf(contract)], () => ok(rootPlaceOf(contract.schema))));
  return root;
}
