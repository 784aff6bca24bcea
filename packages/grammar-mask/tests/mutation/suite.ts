/** What a mutant has to survive: the tests of grammar and matcher that need no large vocabulary, those that fail soonest first. */
import '../../src/grammar/decimal.test.ts';
import '../../src/mask/token-bitmask.test.ts';
import '../../src/mask/matcher.test.ts';
import '../../src/mask/explain.test.ts';
import '../traps.test.ts';
import '../number-states.test.ts';
import '../churn.test.ts';
import '../patch-rules.test.ts';
import '../token-budget.test.ts';
import '../string-content.test.ts';
import '../random-contracts.test.ts';
