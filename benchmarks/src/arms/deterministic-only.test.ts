import { expect, test } from 'vitest';
import { bugCases, bugCaseFamilies } from '../datasets/bugcases.ts';
import { baselineCases } from '../results.ts';
import { runArms } from '../run.ts';
import { scoreRun, sealedGold, type CaseScore } from '../score.ts';
import { ajvCoercion } from './ajv-coercion.ts';
import { deterministicOnly } from './deterministic-only.ts';

const clock = (): number => 0;
const cases = baselineCases();
const run = await runArms(cases, [deterministicOnly(clock), ajvCoercion(clock)], { aborted: false }, () => undefined);
if (run === undefined) throw new Error('the run was cancelled');
const scores = scoreRun(run, cases, sealedGold());

function counts(arm: string, cohort: string): Readonly<Record<string, number>> {
  const of = scores.filter((score) => score.arm === arm && score.cohort.startsWith(cohort));
  const verdicts = [...new Set(of.map(({ verdict }) => verdict))].sort();
  return Object.fromEntries(verdicts.map((verdict) => [verdict, of.filter((score) => score.verdict === verdict).length]));
}

// checklist: C4
test('no call is dispatched that the contract forbids, and none that is wrong', () => {
  const own = scores.filter(({ arm }) => arm === 'deterministic');
  expect(own).toHaveLength(cases.length);
  expect(own.filter(({ verdict, unsafe }) => verdict === 'unsafe' || unsafe !== null)).toEqual([]);
  expect(own.filter(({ verdict }) => verdict === 'silently-wrong')).toEqual([]);
});

test('of the bug reports more than 20 come out right; coercion gets fewer, and some wrong without a sign', () => {
  expect(counts('deterministic', 'bugcases')).toMatchInlineSnapshot(`
    {
      "abstained-rightly": 11,
      "abstained-wrongly": 22,
      "right-call": 28,
    }
  `);
  expect(counts('ajv-coercion', 'bugcases')).toMatchInlineSnapshot(`
    {
      "abstained-rightly": 10,
      "abstained-wrongly": 35,
      "failed": 3,
      "right-call": 7,
      "silently-wrong": 6,
    }
  `);
});

test('of the BFCL corruptions, those that kept the value in another notation', () => {
  expect(counts('deterministic', 'bfcl')).toMatchInlineSnapshot(`
    {
      "abstained-wrongly": 55,
      "right-call": 9,
    }
  `);
});

test('right, wrong and declined, by the family of the report', () => {
  const families = bugCaseFamilies();
  const columnOf = ({ verdict }: CaseScore): 'right' | 'declined rightly' | 'wrong' | 'declined' =>
    (verdict === 'right-call' ? 'right' : verdict === 'abstained-rightly' ? 'declined rightly' : verdict === 'silently-wrong' || verdict === 'unsafe' ? 'wrong' : 'declined');
  const own = scores.filter(({ arm, cohort }) => arm === 'deterministic' && cohort === 'bugcases');
  const rows = [...new Set(families.values())].sort()
    .map((family) => `${family}: ${own.filter(({ id }) => families.get(id) === family).map(columnOf).sort().join(', ')}`);
  expect(bugCases()).toHaveLength(families.size);
  expect(rows.join('\n')).toMatchInlineSnapshot(`
    "array_as_json_text: right
    array_as_json_text_union: right
    array_as_json_text_untyped: right
    array_wrapped_in_object: declined
    boolean_as_string_default_flip: right
    code_fence: right
    coercion_trap_bool_to_number: declined rightly
    concatenated_identical: right
    control_integral_float: right
    cross_field_at_least_one: declined
    cross_field_exactly_one: declined
    date_corrupt_year: declined
    datetime_compact: declined
    double_encoded: right, right
    empty_arguments_required: declined rightly
    empty_defaults_for_optionals: declined
    empty_required_text: declined
    entities_must_survive: right
    enum_after_failed_reask: declined rightly
    enum_case: right
    key_case_style: right, right
    large_integer_precision: right
    literal_null_in_list: declined
    literal_null_text: right
    markup_leak_swallowed_field: right
    markup_leak_value_lost: declined rightly
    meta_key_and_type: right
    missing_required_not_derivable: declined rightly
    near_miss_key_with_default: declined
    null_for_optional: right
    null_for_optional_many: right
    null_for_optional_mixed: right
    number_as_string: right, right, right
    number_as_string_immutable: declined rightly
    patch_index_leading_zero: right
    patch_index_out_of_range: declined
    patch_inherited_source: declined
    patch_missing_parent: declined
    patch_move_into_child: declined
    patch_not_atomic: right
    patch_prototype_path: declined
    patch_prototype_replacement_bypass: declined
    placeholder_value: declined rightly
    policy_unknown_reference: declined rightly
    python_literals: declined
    stray_escape: declined rightly
    string_expected_got_other: declined
    trailing_fragment: right
    truncated_number: declined rightly
    truncated_text: declined rightly
    union_missing_tag: declined
    union_wrong_tag: declined
    wrapper_key: right, right
    wrong_key: declined, declined
    wrong_key_and_value: declined"
  `);
});
