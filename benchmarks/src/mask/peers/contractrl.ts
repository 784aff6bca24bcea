/** Our own mask under the benchmark's interface: a contract is compiled, then bound to a document. */
import { bitmaskLength, compileMask, compileValueMask, isAllowed, type MaskMatcher, type Vocabulary } from '@contractrl/grammar-mask';
import { contractOf, stateFor } from '../contract-cases.ts';
import { byteTokens, greedyEncoder, vocabularyOf } from '../vocabularies.ts';
import type { Engine, TextJudge, Walker } from './engine.ts';

/** Longest string of a contract that sets no `maxLength`: as long as an output may get. */
const MAX_STRING_LENGTH = 4096;

export const contractrl: Engine = {
  name: 'contractrl',
  slash: '/',
  prepare(list) {
    // only forced runs are encoded, and none is asked for here
    const vocabulary = vocabularyOf(list, (text) => greedyEncoder(list)(text));
    // the index is built on first use
    compileValueMask({ type: 'null' }, vocabulary);
    const bitmask = new Int32Array(bitmaskLength(vocabulary.logitWidth));
    return {
      compiler(contractCase) {
        const contract = contractOf(contractCase);
        return () => {
          const compiled = compileMask(contract, vocabulary, { maxStringLength: MAX_STRING_LENGTH });
          if (!compiled.ok) throw new Error(compiled.error.code);
          return {
            start(salt) {
              const bound = compiled.value.bind(stateFor(contractCase, salt));
              if (!bound.ok) throw new Error(bound.error.code);
              return walkerOf(bound.value, bitmask);
            },
            dispose: () => undefined,
          };
        };
      },
      dispose: () => undefined,
    };
  },
};

function walkerOf(matcher: MaskMatcher, bitmask: Int32Array): Walker {
  return {
    fill: () => { matcher.fillBitmask(bitmask); },
    isAllowed: (id) => isAllowed(bitmask, id),
    accept: (id) => matcher.acceptToken(id).ok,
    dispose: () => undefined,
  };
}

let bytes: Vocabulary | undefined;

/** One-byte tokens: every text can be spelled. */
export function byteVocabulary(): Vocabulary {
  bytes ??= vocabularyOf(byteTokens(), greedyEncoder(byteTokens()));
  return bytes;
}

export const contractrlJudge: TextJudge = async (schema, text) => {
  const vocabulary = byteVocabulary();
  const compiled = compileValueMask(schema, vocabulary);
  if (!compiled.ok) return 'refuses the schema';
  const matcher = compiled.value.createMatcher();
  return Buffer.from(text, 'utf8').every((byte) => matcher.acceptToken(byte).ok) && matcher.isAccepting() ? 'accepts' : 'refuses';
};
