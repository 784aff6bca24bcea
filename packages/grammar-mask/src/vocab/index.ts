/** Other sources of a vocabulary: SentencePiece models, and an index read from a file. A subpath of its own, so that a page that needs neither carries neither. */
export { tokensFromSentencePieces, type SentencePiece, type SentencePieceIssue } from './sentence-piece.ts';
export { loadVocabularyIndex, serializeVocabularyIndex, type IndexFileIssue } from './serialized-index.ts';
