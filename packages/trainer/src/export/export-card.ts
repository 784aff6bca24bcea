/** The card of an exported data set: what it is, how it is judged, and under which licences its sources stand. All of it is read from the manifest. */
import type { JsonObject } from '@contractrl/core';

export function exportCard(told: JsonObject): string {
  const { format, promptVersion, groupSize, counts, leftOut, reward, data } = told as {
    readonly format: string; readonly promptVersion: string; readonly groupSize: number; readonly counts: Readonly<Record<string, number>>;
    readonly leftOut: Readonly<Record<string, number>>; readonly reward: JsonObject; readonly data: { readonly manifestDigest: string; readonly manifest: JsonObject };
  };
  const sources = data.manifest['sources'] as unknown as readonly { readonly name: string; readonly licence: string; readonly attribution: string }[];
  return [
    '# Failed tool calls to repair', '',
    `Prompts and labels for group-relative optimisation with ${format === 'trl' ? 'TRL' : 'verl'}: each row is one failed tool call, and one group of ${groupSize} completions.`, '',
    '| | |', '|---|---|',
    ...Object.entries(counts).map(([split, count]) => `| ${split} | ${count} rows |`),
    `| left out | ${Object.entries(leftOut).map(([code, count]) => `${count} ${code}`).join(', ') || 'none'} |`,
    `| prompt version | \`${promptVersion}\`: an adapter trained on these rows knows no other wording |`,
    `| mask | outside the policy: what is sampled is judged as it stands, and what a mask would have refused is a refused attempt |`,
    `| reward | success − λc·C − λr·r − λu·U − λy·T, weights \`${JSON.stringify(reward['weights'])}\` |`,
    `| data | digest of the data set’s manifest \`${data.manifestDigest}\`; audited against the evaluation sets |`, '',
    'Rewards are computed by `contractrl-train serve-reward`; `contractrl_reward.py` asks it. They must not be computed in any other way.', '',
    '## Sources', '', '| source | licence | attribution |', '|---|---|---|', ...sources.map(({ name, licence, attribution }) => `| ${name} | ${licence} | ${attribution} |`), '',
  ].join('\n');
}
