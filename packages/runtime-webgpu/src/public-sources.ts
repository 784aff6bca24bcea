/** What of an observation counts as given: the same for the mask that closes values as for the judge that names their origins. */
export { publicSources } from '@contractrl/core/schema';
