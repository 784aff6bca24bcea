/**
 * `@mlc-ai/web-xgrammar`, the engine inside WebLLM. Its file is UMD inside a package marked as a module, so that Node can neither import nor
 * require it: it is run as the script it is. No compiler cache, compact JSON, and paths without `/`, which it only spells as `\/`.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as Api from '@mlc-ai/web-xgrammar';
import { patchSchema } from '../contract-cases.ts';
import { CHARACTERS, type TokenList } from '../vocabularies.ts';
import { hasBit, type Engine, type TextJudge, type Walker } from './engine.ts';

const require = createRequire(import.meta.url);
const file = require.resolve('@mlc-ai/web-xgrammar');
/** No indentation and no blanks. */
const COMPACT = [false, -1, [',', ':']] as const;

let loaded: typeof Api | undefined;

function api(): typeof Api {
  if (loaded !== undefined) return loaded;
  const module = { exports: {} };
  new Function('module', 'exports', 'require', '__filename', '__dirname', readFileSync(file, 'utf8'))(module, module.exports, require, file, dirname(file));
  loaded = module.exports as typeof Api;
  return loaded;
}

export const xgrammarPackageFile: string = join(dirname(file), 'index.js');

export const xgrammar: Engine = {
  name: 'web-xgrammar',
  slash: '',
  async prepare(list) {
    const { GrammarCompiler, GrammarMatcher, TokenizerInfo } = api();
    const info = await TokenizerInfo.createTokenizerInfo(textsOf(list), 'byte_level', false, list.tokens.length, [list.stopId]);
    return {
      compiler(contractCase) {
        const schema = JSON.stringify(patchSchema(contractCase, ''));
        return async () => {
          const compiler = await GrammarCompiler.createGrammarCompiler(info, false);
          const [whitespace, indent, [comma, colon]] = COMPACT;
          const grammar = await compiler.compileJSONSchema(schema, whitespace, indent, [comma, colon]);
          return {
            start: async () => walkerOf(await GrammarMatcher.createGrammarMatcher(grammar)),
            dispose: () => {
              grammar.dispose();
              compiler.dispose();
            },
          };
        };
      },
      dispose: () => { info.dispose(); },
    };
  },
};

/** Special tokens are empty, so that their text cannot be matched. */
function textsOf({ tokens }: TokenList): string[] {
  return tokens.map((bytes) => (bytes === undefined ? '' : Array.from(bytes, (byte) => CHARACTERS[byte]).join('')));
}

function walkerOf(matcher: Api.GrammarMatcher): Walker {
  let words = new Int32Array(0);
  return {
    fill: () => matcher.getNextTokenBitmask().then((bitmask) => { words = bitmask as Int32Array<ArrayBuffer>; }),
    isAllowed: (id) => hasBit(words, id),
    accept: (id) => matcher.acceptToken(id),
    dispose: () => { matcher.dispose(); },
  };
}

export const xgrammarJudge: TextJudge = async (schema, text) => {
  const { Grammar, Testings } = api();
  const [whitespace, indent, [comma, colon]] = COMPACT;
  const grammar = await Grammar.fromJSONSchema(JSON.stringify(schema), whitespace, indent, [comma, colon]);
  const isAccepted = await Testings.isGrammarAcceptString(grammar, text);
  grammar.dispose();
  return isAccepted ? 'accepts' : 'refuses';
};
