/** What can be wrong with a model file. Codes are public; `tensor` and `key` are the file's own names. */
export type ModelIssue =
  | { readonly code: 'model/not-gguf' }
  | { readonly code: 'model/unreadable'; readonly detail: string }
  | { readonly code: 'model/truncated'; readonly neededBytes: number; readonly actualBytes: number }
  | { readonly code: 'model/missing-field'; readonly key: string }
  | { readonly code: 'model/bad-field'; readonly key: string; readonly detail: string }
  | { readonly code: 'model/unsupported-architecture'; readonly architecture: string }
  | { readonly code: 'model/unsupported-setting'; readonly key: string; readonly value: string }
  | { readonly code: 'model/unsupported-tensor-type'; readonly tensor: string; readonly type: string }
  | { readonly code: 'model/missing-tensor'; readonly tensor: string }
  | { readonly code: 'model/unexpected-tensor'; readonly tensor: string }
  | { readonly code: 'model/bad-shape'; readonly tensor: string; readonly shape: readonly number[]; readonly expected: readonly number[] };
