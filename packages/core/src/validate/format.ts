/** Formats as the judge decides them, for literals that stand beside one. */
import ajvFormats from 'ajv-formats';
import { formatNames } from 'ajv-formats/dist/formats.js';

type FormatName = Parameters<typeof ajvFormats.default.get>[0];

/** The formats that the judge decides. */
export const FORMAT_NAMES: ReadonlySet<string> = new Set(formatNames);

/** Whether `text` has the format `name`, which must be one of ajv-formats. */
export function isOfFormat(name: string, text: string): boolean {
  const format = ajvFormats.default.get(name as FormatName, 'full');
  if (format instanceof RegExp) return format.test(text);
  const validate: unknown = typeof format === 'object' ? format.validate : format;
  return typeof validate === 'function' ? (validate as (text: string) => boolean)(text) : validate === true;
}
