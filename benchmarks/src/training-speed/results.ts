/** The comparison on disk: one raw file with its surroundings, and the report that follows from it alone. */
import { firstDifference, readMeasured, writeMeasured, writeRendered, type Measured } from '../parts.ts';
import type { SpeedComparison } from './measure.ts';
import { renderSpeedReport } from './report.ts';

const [PART, REPORT] = ['comparison', 'report.md'];

/** Writes both and gives back the report. */
export async function writeResults(folder: string, measured: Measured<SpeedComparison>): Promise<string> {
  await writeMeasured(folder, PART, measured);
  const report = renderSpeedReport(measured);
  await writeRendered(folder, new Map([[REPORT, report]]));
  return report;
}

/** Whether the report is, byte by byte, what the raw file gives. */
export async function isRegenerated(folder: string): Promise<boolean> {
  const measured = readMeasured<SpeedComparison>(folder, PART);
  return measured !== undefined && (await firstDifference(folder, new Map([[REPORT, renderSpeedReport(measured)]]))) === undefined;
}
