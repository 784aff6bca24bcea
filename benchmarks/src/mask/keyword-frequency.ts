/**
 * Which keywords the mask cannot constrain, by the number of real-world schemas they stand in (JSONSchemaBench). Unknown keywords and formats are
 * read as annotations, which bind nothing. Only counts are kept.
 */
import { setAnnotationsApart, surveySchema } from '@contractrl/core/schema';
import { dialectOf, readSuites } from './maskbench.ts';

export interface KeywordFrequency {
  readonly schemas: number;
  /** Schemas in which every declared place can be written. */
  readonly whole: number;
  /** Keyword → schemas in which some place is refused for it, most frequent first. */
  readonly refused: Readonly<Record<string, number>>;
}

/** Reads `jsonschemabench` under the data folder. */
export function countRefusedKeywords(folder: string): KeywordFrequency {
  const refused = new Map<string, number>();
  let schemas = 0;
  let whole = 0;
  for (const rows of readSuites(folder, 'jsonschemabench').values()) {
    for (const { schema } of rows) {
      schemas += 1;
      const keywords = new Set(surveySchema(setAnnotationsApart(schema, dialectOf(schema)).schema).unsupported.map(({ keyword }) => keyword));
      if (keywords.size === 0) whole += 1;
      for (const keyword of keywords) refused.set(keyword, (refused.get(keyword) ?? 0) + 1);
    }
  }
  return { schemas, whole, refused: Object.fromEntries([...refused].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))) };
}
