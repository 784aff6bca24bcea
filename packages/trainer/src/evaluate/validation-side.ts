/** The validation side of a training run, made anew from its seed: what evaluation after training reads. */
import { DEFAULT_SYNTHETIC_SHARE, DEFAULT_VALIDATION_SHARE } from '../data/build-dataset.ts';
import type { Example } from '../data/example.ts';
import { prepareDataset, type Output } from '../data/prepare-dataset.ts';
import { SYNTHETIC } from '../data/synthetic/synthetic-source.ts';
import { PACKAGED_DATA } from '../packaged-data.ts';

export interface ValidationSideOptions {
  /** Of the training run: another seed would make other tools the validation side. */
  readonly seed: number;
  readonly count: number;
  /** Where the public sets are; empty for the data of this package. */
  readonly dataFolder: string;
  /** Default: of every source, mixed as in training. `public`: none of synthetic calls. */
  readonly origin?: 'any' | 'public';
  /** Whether values are asked for that the request of a public call says in other words; default: as in training, no. */
  readonly asksSpoken?: boolean;
}

/** Drawn for one that is public: families that few calls can have are looked for among synthetic ones, whatever their share is. */
const PUBLIC_SPARE = 1.4;

/** At most `count` examples; undefined where there is no data set that may be used, which has been told then. O(count × judge). */
export function validationSide({ seed, count, dataFolder, origin = 'any', asksSpoken }: ValidationSideOptions, tell: Output['tell']): readonly Example[] | undefined {
  const isPublic = origin === 'public';
  const options = {
    seed, count: Math.ceil((count * (isPublic ? PUBLIC_SPARE : 1)) / DEFAULT_VALIDATION_SHARE), syntheticShare: isPublic ? 0 : DEFAULT_SYNTHETIC_SHARE, validationShare: DEFAULT_VALIDATION_SHARE,
    ...(asksSpoken === undefined ? {} : { asksSpoken }),
  };
  const data = prepareDataset(dataFolder === '' ? PACKAGED_DATA : dataFolder, options, { print: () => undefined, tell });
  return data?.examples.filter(({ split, source }) => split === 'validation' && !(isPublic && source === SYNTHETIC)).slice(0, count);
}
