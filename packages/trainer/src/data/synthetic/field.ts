/** What a synthetic tool is made of: fields of one topic, with their schema fixed by the tool and values, words and all, drawn for each call. */
import type { JsonObject, JsonValue } from '@contractrl/core';
import type { Random } from '../../random.ts';

export interface Field {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isOptional?: boolean;
}

/** Values by the names of the fields, and the words of the request that say them. */
export interface Said {
  readonly values: JsonObject;
  readonly clause: string;
  /** The words in `clause` that carry one value and no other, by field. */
  readonly mentions?: Readonly<Record<string, string>>;
}

export interface Topic {
  readonly fields: readonly Field[];
  /** Checks across the fields; `at` gives a field's pointer in the call. */
  readonly checks?: (at: (name: string) => string) => readonly JsonValue[];
  say(random: Random): Said;
}

/** Draws the schema of a topic; what it draws is the tool's for all calls. */
export type TopicKind = (random: Random) => Topic;
