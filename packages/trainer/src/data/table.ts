/** The data set as a table for a terminal: families by difficulty, then the audit. */
import { LEAK_UNITS } from '../audit/keys.ts';
import type { AuditReport } from '../audit/leakage-index.ts';
import { FAMILIES } from '../corrupt/family.ts';
import type { Example } from './example.ts';
import { DIFFICULTIES } from './stratum.ts';

export function datasetTable(examples: readonly Example[]): string {
  const rows = FAMILIES.map((family) => {
    const ofFamily = examples.filter((example) => example.family === family);
    return [family, ...DIFFICULTIES.map((difficulty) => ofFamily.filter((example) => example.difficulty === difficulty).length), ofFamily.length];
  });
  const totals = [...DIFFICULTIES.map((difficulty) => examples.filter((example) => example.difficulty === difficulty).length), examples.length];
  return aligned([['family', ...DIFFICULTIES, 'all'], ...rows, ['all', ...totals]]);
}

export function auditTable({ units }: AuditReport): string {
  return aligned([['unit', 'evaluation', 'training', 'shared'], ...LEAK_UNITS.map((unit) => [unit, units[unit].evaluation, units[unit].training, units[unit].shared])]);
}

function aligned(rows: readonly (readonly (string | number)[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  return rows.map((row) => row.map((cell, column) => (column === 0 ? String(cell).padEnd(widths[0]!) : String(cell).padStart(widths[column]!))).join('  ')).join('\n');
}
