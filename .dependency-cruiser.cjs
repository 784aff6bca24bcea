/**
 * The arrows between the packages: core ← grammar-mask ← runtime-webgpu ← { cli, demo, trainer, benchmarks }, and core ← ledger-storage ← { cli, demo,
 * benchmarks }; trainer ← cli, for one command that loads it. Nothing imports benchmarks, so gold labels cannot reach the online path. Packages see each other by name only, as their users do.
 */
const TESTS = '\\.(test|test-d|bench)\\.ts$|/tests/|vitest\\.config\\.ts$';

/** Forbids `from` to import anything of the workspace folders in `to`. */
const forbid = (name, from, to) => ({ name, severity: 'error', from: { path: `^${from}/` }, to: { path: `^(${to.join('|')})` } });

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true, viaOnly: { pathNot: 'node_modules', dependencyTypesNot: ['type-only'] } } },
    { name: 'resolvable', comment: 'a package is reached through the entries its package.json declares, and no other', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '\\?(url|worker|raw)$' } },
    forbid('core-imports-nothing', 'packages/core', ['packages/(?!core/)', 'apps/', 'benchmarks/']),
    forbid('grammar-mask-imports-core', 'packages/grammar-mask', ['packages/(?!core/|grammar-mask/)', 'apps/', 'benchmarks/']),
    forbid('ledger-storage-imports-core', 'packages/ledger-storage', ['packages/(?!core/|ledger-storage/)', 'apps/', 'benchmarks/']),
    forbid('runtime-imports-core-and-mask', 'packages/runtime-webgpu', ['packages/(?!core/|grammar-mask/|runtime-webgpu/)', 'apps/', 'benchmarks/']),
    forbid('trainer-imports-down', 'packages/trainer', ['packages/(?!core/|grammar-mask/|runtime-webgpu/|trainer/)', 'apps/', 'benchmarks/']),
    forbid('cli-imports-down', 'packages/cli', ['apps/', 'benchmarks/']),
    forbid('demo-imports-down', 'apps', ['packages/(cli|trainer)/', 'benchmarks/']),
    {
      name: 'by-package-name',
      comment: 'no relative path into another package',
      severity: 'error',
      from: { path: '^(packages/[^/]+|apps/[^/]+|benchmarks)/', pathNot: 'vitest\\.config\\.ts$' },
      to: { path: '^(packages|apps|benchmarks|scripts)/|^[^/]+$', pathNot: '^$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'pure-packages-without-node',
      severity: 'error',
      from: { path: '^packages/(core|grammar-mask)/src/', pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-development-dependency',
      comment: 'what ships must not need what does not',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: TESTS },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|\\.turbo|\\.reports|fixtures)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['@contractrl/source', 'import', 'node', 'default', 'types'], extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs', '.json'] },
  },
};
