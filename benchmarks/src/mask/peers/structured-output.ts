/**
 * `@huggingface/transformers-structured-output`. The package exports its logits processor only; the engine behind it is in the TypeScript
 * it ships, which is bundled in memory. Its caches hang on the schema object, so that a fresh object is a cold start.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@contractrl/core';
import { build, type Rolldown } from 'vite';
import { patchSchema } from '../contract-cases.ts';
import { byteTokens, type TokenList } from '../vocabularies.ts';
import { hasBit, type Engine, type TextJudge, type Walker } from './engine.ts';

interface TokenConstraint {
  readonly vocabSize: number;
  fillMask(target: Uint32Array): boolean;
  /** Throws where the token is not allowed. */
  commit(id: number): boolean;
}

interface Api {
  prepareTokenizer(source: object): void;
  createTokenConstraint(source: object, format: { readonly type: 'json_schema'; readonly json_schema: JsonObject }): TokenConstraint;
}

const folder = dirname(createRequire(import.meta.url).resolve('@huggingface/transformers-structured-output'));

export const structuredOutputPackageFile: string = join(folder, 'index.js');

let loaded: Promise<Api> | undefined;

function api(): Promise<Api> {
  loaded ??= bundle().then((code) => import(`data:text/javascript;base64,${Buffer.from(code, 'utf8').toString('base64')}`) as Promise<Api>);
  return loaded;
}

async function bundle(): Promise<string> {
  const result = await build({
    configFile: false, logLevel: 'error', publicDir: false,
    build: { write: false, minify: false, target: 'es2022', lib: { entry: join(folder, '..', 'src', 'engine', 'index.ts'), formats: ['es'] } },
  });
  const [output] = (Array.isArray(result) ? result : [result]) as readonly Rolldown.RolldownOutput[];
  return (output!.output[0]).code;
}

export const structuredOutput: Engine = {
  name: 'structured-output',
  slash: '/',
  async prepare(list) {
    const { createTokenConstraint, prepareTokenizer } = await api();
    const source = sourceOf(list);
    prepareTokenizer(source);
    return {
      compiler(contractCase) {
        // compact JSON
        const schema = { ...patchSchema(contractCase, '/'), 'x-guidance': { whitespace_flexible: false } };
        const compile = (): TokenConstraint => createTokenConstraint(source, { type: 'json_schema', json_schema: schema });
        return () => {
          let first: TokenConstraint | undefined = compile();
          return {
            start() {
              const constraint = first ?? compile();
              first = undefined;
              return walkerOf(constraint);
            },
            dispose: () => undefined,
          };
        };
      },
      dispose: () => undefined,
    };
  },
};

/** Loads what is loaded once, so that no clock sees it. */
export async function loadStructuredOutput(): Promise<void> {
  await api();
}

function sourceOf({ tokens, stopId }: Omit<TokenList, 'name'>): object {
  const special = tokens.flatMap((bytes, id) => (bytes === undefined ? [id] : []));
  return { tokens: tokens.map((bytes) => bytes ?? new Uint8Array(0)), eosTokenId: stopId, specialTokenIds: special };
}

function walkerOf(constraint: TokenConstraint): Walker {
  const words = new Uint32Array(Math.ceil(constraint.vocabSize / 32));
  return {
    fill: () => { constraint.fillMask(words); },
    isAllowed: (id) => hasBit(words, id),
    accept: (id) => commits(constraint, id),
    dispose: () => undefined,
  };
}

/** The engine throws to refuse. */
function commits(constraint: TokenConstraint, id: number): boolean {
  try {
    constraint.commit(id);
    return true;
  } catch {
    return false;
  }
}

export const structuredOutputJudge: TextJudge = async (schema, text) => {
  const { createTokenConstraint } = await api();
  const { tokens, stopId } = byteTokens();
  let constraint: TokenConstraint;
  try {
    constraint = createTokenConstraint(sourceOf({ tokens, stopId }), { type: 'json_schema', json_schema: schema });
  } catch {
    return 'refuses the schema';
  }
  return [...Buffer.from(text, 'utf8'), stopId].every((id) => commits(constraint, id)) ? 'accepts' : 'refuses';
};
