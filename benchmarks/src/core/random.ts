/** Whole numbers from 0 to bound − 1 from a seed, the same on every machine. */
import { createRandom } from '@contractrl/runtime-webgpu';

export function createWholeRandom(seed: number): (bound: number) => number {
  const random = createRandom(seed);
  return (bound) => Math.floor(random() * bound);
}
