/** Lint for every package. Architecture between the packages is in `.dependency-cruiser.cjs`; here it is what a single file may touch. */
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Core and grammar-mask are pure: the same input gives the same output on every machine. */
const IMPURE = ['Date', 'process', 'Buffer', 'window', 'document', 'globalThis', 'performance', 'crypto', 'fetch', 'setTimeout', 'setInterval', 'console'];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/.reports/**', '**/.turbo/**', '**/fixtures/**', '**/coverage/**', '**/*.d.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strict],
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Typed arrays and strings are indexed within bounds the loop has just checked; a second check per element would cost and tell nothing.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Members of a JSON document have any name; deleting one is what a patch does.
      '@typescript-eslint/no-dynamic-delete': 'off',
      // Control characters are what a JSON reader and a terminal writer must look for.
      'no-control-regex': 'off',
      // `T | void` is how a callback that may return nothing is typed; `Result<void, E>` is a success without a value.
      '@typescript-eslint/no-invalid-void-type': 'off',
    },
  },
  {
    // Type tests are about what must not compile, and tests of numbers are about literals that no double holds.
    files: ['**/*.test.ts', '**/*.test-d.ts'],
    rules: { '@typescript-eslint/ban-ts-comment': 'off', 'no-loss-of-precision': 'off' },
  },
  {
    // A default export has no name of its own: every importer invents one. Tools that demand one are the exception.
    files: ['**/*.ts', '**/*.js', '**/*.mjs'],
    ignores: ['**/*.config.ts', '**/*.config.js', '**/*.config.mjs'],
    rules: { 'no-restricted-syntax': ['error', { selector: 'ExportDefaultDeclaration', message: 'Export by name.' }] },
  },
  {
    files: ['packages/core/src/**/*.ts', 'packages/grammar-mask/src/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.test-d.ts', '**/*.bench.ts'],
    rules: {
      'no-restricted-globals': ['error', ...IMPURE.map((name) => ({ name, message: 'core and grammar-mask are pure: pass it in.' }))],
      'no-restricted-properties': ['error', { object: 'Math', property: 'random', message: 'core and grammar-mask are pure: pass a seeded source in.' }],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    languageOptions: { globals: { console: 'readonly', process: 'readonly', module: 'readonly', Buffer: 'readonly', URL: 'readonly', require: 'readonly', setTimeout: 'readonly', setInterval: 'readonly', clearInterval: 'readonly', clearTimeout: 'readonly', fetch: 'readonly' } },
  },
);
