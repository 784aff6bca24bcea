/**
 * The checklist with the tests that show each row. A test says which rows it shows in a comment right before it, `// checklist: B3, B4`; the same comment
 * before any other statement speaks for the whole file, by the first sentence of its header. A row that nobody speaks for is open.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const MARK = /\/\/ checklist: ([A-Z]\d+(?:, [A-Z]\d+)*)\s*$/u;
const LEFT_OUT = new Set(['node_modules', 'dist', 'fixtures', '.turbo', '.reports']);

export function readRows() {
  return JSON.parse(readFileSync(new URL('checklist-rows.json', import.meta.url), 'utf8'));
}

/** Row → `{ title, file }[]`, in the order of the files. A mark that names no row is a mistake: RangeError. */
export function findTests(root, rows) {
  const found = new Map(Object.values(rows).flatMap((section) => Object.keys(section)).map((id) => [id, []]));
  for (const path of ['packages', 'apps', 'benchmarks'].flatMap((folder) => testFiles(join(root, folder)))) {
    const text = readFileSync(path, 'utf8');
    if (!text.includes('// checklist: ')) continue;
    const file = relative(root, path);
    for (const { ids, title } of marksIn(text)) {
      for (const id of ids) {
        const tests = found.get(id);
        if (tests === undefined) throw new RangeError(`${file} speaks for row ${id}, which the checklist does not have`);
        tests.push({ title, file });
      }
    }
  }
  return found;
}

function testFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : testFiles(path);
    return /\.test(-d)?\.ts$/u.test(entry.name) ? [path] : [];
  });
}

/** The marks of one file with the titles they stand before. */
export function marksIn(text) {
  const source = ts.createSourceFile('test.ts', text, ts.ScriptTarget.ES2022, true);
  const marks = [];
  const visit = (node, titles) => {
    const title = titleOf(node);
    const path = title === undefined ? titles : [...titles, title];
    const ids = idsBefore(text, node);
    if (ids.length > 0) marks.push({ ids, title: title === undefined ? firstSentence(text) : path.join(': ') });
    ts.forEachChild(node, (child) => visit(child, path));
  };
  source.statements.forEach((statement) => visit(statement, []));
  return marks;
}

/** Only a statement has marks: the nodes inside it that begin where it does have the same comments. */
function idsBefore(text, node) {
  if (!ts.isStatement(node)) return [];
  const comments = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
  return comments.flatMap(({ pos, end }) => MARK.exec(text.slice(pos, end))?.[1]?.split(', ') ?? []);
}

/** The title of `test('…')`, `describe.skipIf(…)('…')`, `test.each(…)('…')`, `family('…')` of the adversarial tests; undefined for whatever else. */
function titleOf(node) {
  const call = ts.isExpressionStatement(node) ? node.expression : undefined;
  if (call === undefined || !ts.isCallExpression(call)) return undefined;
  let callee = call.expression;
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression;
  const [title] = call.arguments;
  if (!ts.isIdentifier(callee) || !['describe', 'family', 'test'].includes(callee.text) || title === undefined) return undefined;
  if (ts.isStringLiteralLike(title)) return title.text;
  return ts.isTemplateExpression(title) ? title.head.text.trim() : undefined;
}

function firstSentence(text) {
  const comment = /^\/\*\*(.*?)\*\//su.exec(text)?.[1] ?? '';
  return comment.replace(/\s*\n \*\s*/gu, ' ').trim().replace(/\.(\s.*)?$/su, '');
}

export function renderChecklist(rows, tests) {
  const ids = [...tests.keys()];
  const open = ids.filter((id) => tests.get(id).length === 0);
  const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const sections = Object.entries(rows).flatMap(([title, section]) => [
    '', `## ${title}`, '', '| row | requirement | shown by | open |', '|---|---|---|---|',
    ...Object.entries(section).map(([id, requirement]) => {
      const shown = tests.get(id).map(({ title: test, file }) => `${cell(test)} (\`${file}\`)`).join('<br>');
      return `| ${id} | ${cell(requirement)} | ${shown} | ${shown === '' ? 'open' : ''} |`;
    }),
  ]);
  return [
    '# Checklist', '',
    'Written by `npm run checklist` from `scripts/lib/checklist-rows.json` and the comments `// checklist: …` in the tests; do not edit.', '',
    `${ids.length} rows, ${ids.length - open.length} shown by tests, ${open.length} open${open.length === 0 ? '' : `: ${open.join(', ')}`}.`,
    ...sections, '',
  ].join('\n');
}
