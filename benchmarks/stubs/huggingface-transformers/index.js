/**
 * Stands in for the peer dependency of `@huggingface/transformers-structured-output`, whose engine alone is measured here: the real package
 * would install a second onnxruntime and 478 MB. The two names below are all that the engine's package imports from it.
 */
export class LogitsProcessor {}
export class LogitsProcessorList extends Array {}
