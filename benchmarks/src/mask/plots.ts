/** The report's plots as SVG, drawn by Vega-Lite from the raw results: the same input gives the same bytes. */
import { drawPlot, PLOT } from '../plot.ts';
import { quantile } from '../statistics.ts';
import type { RawResults } from './results.ts';
import { cellsOf, enginesOf, vocabulariesOf } from './speed-summary.ts';

const SHARE_STEP = 0.005;
const WIDTH = 320;
const HEIGHT = 240;

export async function renderPlots({ speed, maskbench }: RawResults): Promise<readonly (readonly [string, string])[]> {
  const masks = vocabulariesOf(speed.result).flatMap((vocabulary) => enginesOf(speed.result).flatMap((engine) => {
    const times = cellsOf(speed.result, vocabulary, engine).flatMap(({ maskUs }) => maskUs);
    const shares = times.length === 0 ? [] : Array.from({ length: Math.round(1 / SHARE_STEP) }, (_, index) => (index + 1) * SHARE_STEP);
    return shares.map((share) => ({ vocabulary, engine, share: 100 * share, us: Math.max(0.1, quantile(times, share)!) }));
  }));
  const firsts = speed.result.cells.flatMap(({ vocabulary, engine, contract, firstMaskMs }) => {
    const ms = quantile(firstMaskMs, 0.5);
    return ms === undefined ? [] : [{ vocabulary, engine, contract, ms }];
  });
  const suites = Object.entries(maskbench.result.suites).flatMap(([suite, { schemas, compiled, llguidance }]) => [
    { suite, engine: 'contractrl', share: 100 * compiled / schemas }, { suite, engine: 'llguidance (recorded)', share: 100 * llguidance.compiled / schemas },
  ]);
  const order = [...vocabulariesOf(speed.result)];
  return Promise.all([
    drawPlot('mask-time.svg', {
      ...PLOT, title: 'Time of one cold mask', data: { values: masks }, width: WIDTH, height: HEIGHT, mark: { type: 'line', interpolate: 'step-after' },
      encoding: {
        x: { field: 'us', type: 'quantitative', scale: { type: 'log' }, title: 'µs' },
        y: { field: 'share', type: 'quantitative', title: '% of masks at most this long' },
        color: { field: 'engine', type: 'nominal' },
        facet: { field: 'vocabulary', type: 'nominal', columns: 3, sort: order },
      },
    }),
    drawPlot('first-mask.svg', {
      ...PLOT, title: 'From the contract to the first mask (median)', data: { values: firsts }, width: WIDTH, height: HEIGHT, mark: { type: 'point', filled: true, size: 60 },
      encoding: {
        x: { field: 'ms', type: 'quantitative', scale: { type: 'log' }, title: 'ms' },
        y: { field: 'contract', type: 'nominal', title: null, sort: null },
        color: { field: 'engine', type: 'nominal' },
        facet: { field: 'vocabulary', type: 'nominal', columns: 3, sort: order },
      },
    }),
    drawPlot('maskbench.svg', {
      ...PLOT, title: 'MaskBench: schemas compiled', data: { values: suites }, width: 2 * WIDTH, height: 1.5 * HEIGHT, mark: 'bar',
      encoding: {
        y: { field: 'suite', type: 'nominal', title: null, sort: null },
        yOffset: { field: 'engine', type: 'nominal' },
        x: { field: 'share', type: 'quantitative', title: '% of schemas', scale: { domain: [0, 100] } },
        color: { field: 'engine', type: 'nominal' },
      },
    }),
  ]);
}
