/** Other people's words for what admission refuses. */
import type { PatchFault } from './operation.ts';

/**
 * The codes of the public bug-case data for every refusal, so that both can be compared. `patch/…` codes are finer:
 * several map to one. `null`: that data has no word for it.
 */
export const BUGCASE_PATCH_CODES: Readonly<Record<PatchFault['code'], string | null>> = {
  'patch/not-array': 'patch_not_array',
  'patch/empty': null,
  'patch/not-object': 'patch_not_array',
  'patch/op-missing': 'op_not_allowed',
  'patch/op-unknown': 'op_not_allowed',
  'patch/path-missing': 'pointer_syntax',
  'patch/path-syntax': 'pointer_syntax',
  'patch/from-missing': 'from_missing',
  'patch/from-syntax': 'pointer_syntax',
  'patch/value-missing': 'value_missing',
  'patch/forbidden-token': 'forbidden_path',
  'patch/forbidden-name': 'forbidden_path',
  'patch/root-target': 'root_remove',
  'patch/root-source': 'root_remove',
  'patch/from-unresolved': 'path_not_found',
  'patch/no-effect': null,
  'patch/move-into-child': 'move_into_child',
  'patch/path-unresolved': 'path_not_found',
  'patch/bad-index': 'array_index_invalid',
  'patch/index-out-of-range': 'array_index_invalid',
  'patch/locked-path': 'immutable_path',
  'patch/operation-budget': 'op_budget',
  'patch/operation-not-allowed': 'op_not_allowed',
  'patch/schema-prohibited': null,
};
