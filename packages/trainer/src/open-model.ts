/** The model that a command trains or masks with, whole in memory, with its tokenizer. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { createVocabulary, type Vocabulary } from '@contractrl/grammar-mask';
import { createTokenizer, readGguf, type GgufModel, type Tokenizer } from '@contractrl/runtime-webgpu';
import { fetchModel, formatModelFailure, type LocatedModel } from '@contractrl/runtime-webgpu/node';

const BASE_NAME = 'HuggingFaceTB/SmolLM2-135M-Instruct';
/** No prompt of the data set with its answer is longer; a longer one is left out. What memory training takes grows with it. */
const MAX_CONTEXT_LENGTH = 1024;
/** Node reads no larger file at once. */
const MAX_FILE_BYTES = 2 ** 31 - 1;

export interface OpenedModel {
  readonly model: GgufModel;
  readonly base: string;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  /** Positions of prompt and answer that are trained on; the model itself may have more. */
  readonly contextLength: number;
}

/** As the command line finds it: the given file, or the base model from the cache or fetched. A text says what is wrong. */
export async function openModel(path: string | undefined, signal: AbortSignal | undefined): Promise<OpenedModel | string> {
  const located = await fetchModel({ ...(path === undefined ? {} : { model: path }), ...(signal === undefined ? {} : { signal }) });
  if (!located.ok) return `${located.error.code}: ${formatModelFailure(located.error)}`;
  const unusable = (code: string): string => `${code}: the model file ${located.value.path} cannot be used`;
  if (located.value.sizeBytes > MAX_FILE_BYTES) return `model/too-large: the model file ${located.value.path} has 2 GiB or more: give one with fewer bits a weight, or a smaller base`;
  const model = await readGguf(readFileSync(located.value.path), { digest: located.value.sha256 as GgufModel['digest'] });
  if (!model.ok) return unusable(model.error.code);
  const tokenizer = createTokenizer(model.value);
  if (!tokenizer.ok) return unusable(tokenizer.error.code);
  const { tokens, stopIds } = tokenizer.value;
  const vocabulary = createVocabulary({ logitWidth: model.value.vocabularySize, tokens, stopIds, encode: (text) => tokenizer.value.encodePlain(text) });
  if (!vocabulary.ok) return unusable(vocabulary.error.code);
  const contextLength = Math.min(MAX_CONTEXT_LENGTH, model.value.config.contextLength);
  return { model: model.value, base: baseNameOf(located.value), tokenizer: tokenizer.value, vocabulary: vocabulary.value, contextLength };
}

/** What an adapter's configuration calls the base: its name on the hub, or that of the given file. */
export function baseNameOf({ isBase, path }: Pick<LocatedModel, 'isBase' | 'path'>): string {
  return isBase ? BASE_NAME : basename(path);
}
