/**
 * How a model marks who speaks. Prompts are written in ChatML, which SmolLM2 and Qwen speak; Llama 3 has headers instead and a token that begins a text.
 * A model with neither would read the markers as plain characters, which a request could forge: it must not be prompted so.
 * Reference: model cards of Llama 3 ("Prompt template") and SmolLM2.
 */
const CHATML = ['<|im_start|>', '<|im_end|>'];
const LLAMA_3 = ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'];

interface SpecialTexts {
  has(text: string): boolean;
}

export function hasTurnMarkers(special: SpecialTexts): boolean {
  return [CHATML, LLAMA_3].some((markers) => markers.every((text) => special.has(text)));
}

/** Trusted ChatML text with the model's own markers; as it is where the model has none. A system turn begins a conversation. */
export function withOwnMarkers(text: string, special: SpecialTexts): string {
  if (CHATML.every((marker) => special.has(marker)) || !hasTurnMarkers(special)) return text;
  return text
    .replace(/<\|im_start\|>(\w+)\n/gu, (_, role: string) => `${role === 'system' ? '<|begin_of_text|>' : ''}<|start_header_id|>${role}<|end_header_id|>\n\n`)
    .replace(/<\|im_end\|>\n?/gu, '<|eot_id|>');
}
