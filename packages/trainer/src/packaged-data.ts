/** The data that comes with this package: what may be passed on of the training sets, and the keys of the evaluation sets. Laid out as any data folder. */
import { fileURLToPath } from 'node:url';

export const PACKAGED_DATA: string = fileURLToPath(new URL('../data/', import.meta.url));
