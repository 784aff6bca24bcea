/**
 * Answers of the check model, from plain double-precision loops (`tests/support/reference-decoder.ts`), which a test compares with these
 * numbers. Logits of {@link ANSWER_IDS}, after the prompt unless it says otherwise.
 */
import { CHECK_PROMPT } from './check-model.ts';

export const ANSWER_IDS: Int32Array = Int32Array.from({ length: 16 }, (_, i) => 17 * i);

/** What follows the prompt in the decode check. */
export const NEXT_TOKEN = 65;

export const ADAPTER_RANKS = [0, 1, 4, 8, 16, 64] as const;

interface KnownAnswers {
  readonly prefill: readonly number[];
  /** After the prompt and {@link NEXT_TOKEN}. */
  readonly next: readonly number[];
  /** By rank. */
  readonly adapters: Readonly<Record<(typeof ADAPTER_RANKS)[number], readonly number[]>>;
}

const PREFILL: readonly number[] = [
  -0.5965, -7.04187, 1.14698, 4.73062, 0.46577, 10.30975, -11.52033, 0.41201,
  -10.50735, 13.98431, 0.23161, -0.39291, -15.61253, 1.83604, -4.69187, 3.53732,
];

export const KNOWN_ANSWERS: KnownAnswers = {
  prefill: PREFILL,
  next: [
    -2.72588, -3.67203, -2.29209, 2.39085, -0.90164, 4.84131, -10.56794, 2.43768,
    -2.35313, 6.56668, 11.39353, -0.62816, -9.81765, 6.29958, -0.40338, -0.9756,
  ],
  adapters: {
    0: PREFILL,
    1: [
      -1.24019, -6.97521, -0.80083, 1.53051, -0.03795, 5.13529, -11.04235, 1.92725,
      -11.49534, 13.36183, -2.03624, 0.58145, -14.60545, -0.03037, -3.82769, 2.26768,
    ],
    4: [
      -0.98477, -8.97415, 0.777, 7.74746, 0.6834, 12.47655, -16.35635, 3.52161,
      -8.47015, 12.94483, -2.0083, -2.15166, -12.11894, -0.08777, -5.683, 6.34902,
    ],
    8: [
      11.62896, -6.19713, -1.24624, 0.20506, 6.28219, 7.71053, -13.01994, 2.2092,
      -17.38322, -1.09595, -2.28822, 5.16912, -3.17515, -7.06097, -6.24587, 8.51659,
    ],
    16: [
      1.59004, -7.12747, -0.7622, 1.34608, 6.47361, -2.81771, -4.91027, -4.78272,
      -17.91428, 7.21837, -1.23734, -8.15942, -3.98018, -4.36628, 0.05507, 8.78997,
    ],
    64: [
      -1.43922, -2.25078, -0.81085, -16.94816, 2.82484, 2.15107, -2.83474, 7.96802,
      -10.66365, 3.31108, -16.58034, 12.22066, 4.01487, 9.31292, -6.66025, 0.63488,
    ],
  },
};

/** What the masked answer is written after. After this one the model writes a patch and not an abstention. */
export const PATCH_PROMPT: readonly number[] = [...CHECK_PROMPT, 152];

/** What greedy decoding under the mask writes after it, and the logarithm of its probability among the allowed answers. */
export const KNOWN_PATCH = {
  text: '[{"op":"replace","path":"/city","value":"llllllllllll"}]',
  logProbability: -0.98904,
} as const;
