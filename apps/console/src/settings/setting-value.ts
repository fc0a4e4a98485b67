/** Values of cluster settings, as text for people and as what the API takes. */
import type { Setting } from '../api/types';

type Value = Setting['value'];

const WORDS: Readonly<Record<string, string>> = { true: 'On', false: 'Off', '': 'None' };

export function valueText(value: Value, { unit }: Pick<Setting['definition'], 'unit'>): string {
  if (typeof value !== 'number') return WORDS[String(value)] ?? String(value);
  const number = value.toLocaleString('en');
  return unit === undefined ? number : `${number} ${unit}`;
}

/** @param text of a form; what can't be read goes to the API as it stands, which says what is wrong */
export function readValue(text: string, { type, mayBeUnlimited }: Setting['definition']): Value {
  if (type === 'boolean') return text === 'true';
  const isWord = mayBeUnlimited === true && text === 'unlimited';
  const isNumber = type === 'integer' || type === 'number';
  return isNumber && !isWord && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The range of a number in words; nothing for anything else. */
export function rangeText({ min, max, unit, mayBeUnlimited }: Setting['definition']): string | undefined {
  if (min === undefined || max === undefined) return undefined;
  const what = unit === undefined ? '' : ` ${unit}`;
  return `From ${min} to ${max}${what}${mayBeUnlimited === true ? ', or unlimited' : ''}.`;
}

export function matches(setting: Setting, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const text =
    `${setting.name} ${setting.definition.category} ${setting.definition.description}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
