/** What can be wrong with an adapter's files. Codes are public; `tensor` and `key` are the files' own names. */
export type AdapterIssue =
  | { readonly code: 'adapter/truncated'; readonly neededBytes: number; readonly actualBytes: number }
  | { readonly code: 'adapter/bad-header'; readonly detail: string }
  | { readonly code: 'adapter/unsupported-dtype'; readonly tensor: string; readonly dtype: string }
  | { readonly code: 'adapter/bad-config'; readonly key: string; readonly detail: string }
  | { readonly code: 'adapter/wrong-base'; readonly base: string; readonly expected: string }
  /** Trained for prompts of another wording; undefined where the configuration names none. */
  | { readonly code: 'adapter/other-prompt'; readonly promptVersion: string | undefined; readonly expected: string }
  | { readonly code: 'adapter/missing-tensor'; readonly tensor: string }
  | { readonly code: 'adapter/unexpected-tensor'; readonly tensor: string }
  | { readonly code: 'adapter/bad-shape'; readonly tensor: string; readonly shape: readonly number[]; readonly expected: readonly number[] }
  | { readonly code: 'adapter/not-finite'; readonly tensor: string };
