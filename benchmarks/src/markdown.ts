/** Pieces of Markdown that the reports share: tables, marks and the ways figures are written. */
import type { Surroundings } from './parts.ts';

export type Cells = readonly string[];

export function machine({ cpu, threadCount, platform, node, load }: Surroundings): string {
  return `Machine: ${cpu}, ${String(threadCount)} threads, ${platform}, Node ${node}, load average ${load.map((value) => value.toFixed(2)).join(', ')} at the start.`;
}

export function mark(isMet: boolean): string {
  return isMet ? '✓' : '✗';
}

export function share(count: number, n: number): string {
  return `${String(count)} (${(100 * count / n).toFixed(1)} %)`;
}

export function thousandth(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value / 1000;
}

/** A negative difference means that garbage of an earlier vocabulary went in between: no measurement. */
export function megabytes(bytes: number | undefined): number | undefined {
  return bytes === undefined || bytes < 0 ? undefined : bytes / 1e6;
}

export function optional(value: number | undefined): string {
  return value === undefined ? 'n/a' : fixed(value);
}

export function fixed(value: number): string {
  return value.toFixed(value >= 100 ? 0 : 2);
}

/** In a table a bar ends the cell, also inside code; control characters are shown by their number. */
export function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|').replace(/[\0-\x1f]/g, (character) => `⟨${character.charCodeAt(0).toString(16).padStart(2, '0')}⟩`)}\``;
}

export function table(head: Cells, rows: readonly Cells[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
