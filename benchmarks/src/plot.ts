/** A plot of a report as SVG, drawn by Vega-Lite: the same specification gives the same bytes. */
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

/** Beside data, marks and encoding; every plot has it. */
export const PLOT: { readonly $schema: string; readonly background: 'white' } = { $schema: 'https://vega.github.io/schema/vega-lite/v6.json', background: 'white' };

/** Name of the file, and its text. */
export async function drawPlot(name: string, spec: TopLevelSpec): Promise<readonly [string, string]> {
  const view = new View(parse(compile(spec).spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return [name, `${svg}\n`];
}
