import { LABEL_KEY } from '@holdfast/core/model/labels.js';

/** The change of labels that a text requests; `undefined` if it can't be parsed. */
export function labelOf(input: string): Record<string, string | null> | undefined {
  const text = input.trim();
  if (text.startsWith('-')) return LABEL_KEY.test(text.slice(1)) ? { [text.slice(1)]: null } : undefined;
  const at = text.indexOf('=');
  const key = at === -1 ? '' : text.slice(0, at);
  return LABEL_KEY.test(key) ? { [key]: text.slice(at + 1) } : undefined;
}
