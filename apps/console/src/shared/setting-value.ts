/** Values of cluster settings, as text for people and as what the API takes. */
import { engineMap } from '@holdfast/core/model/engine-map.js';
import type { Setting } from '../api/types';

type Value = Setting['value'];

const WORDS: Readonly<Record<string, string>> = { true: 'On', false: 'Off', '': 'None' };

export function valueText(value: Value, definition: Pick<Setting['definition'], 'unit'>): string {
  const { unit } = definition;
  const map = engineMap(value);
  if (map !== undefined) {
    const parts = Object.entries(map).map(
      ([engine, own]) => `${engine}: ${valueText(asValue(own), definition)}`,
    );
    return parts.join(', ');
  }
  if (typeof value !== 'number') return WORDS[String(value)] ?? String(value);
  const number = value.toLocaleString('en');
  return unit === undefined ? number : `${number} ${unit}`;
}

/** @param text of a form; an unreadable one goes to the API as it is, which reports the error */
export function readValue(text: string, { type, mayBeUnlimited }: Setting['definition']): Value {
  if (type === 'boolean') return text === 'true';
  const isWord = mayBeUnlimited === true && text === 'unlimited';
  const isNumber = type === 'integer' || type === 'number';
  return isNumber && !isWord && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Data engines with a field each in a form; none where volumes of all have one value. */
export function enginesOf({ engines = [] }: Setting['definition']): readonly ('v1' | 'v2')[] {
  return engines.length > 1 ? engines : [];
}

/** Value for volumes of one data engine, as a form shows it. */
export function valueFor({ value, default: byDefault }: Setting, engine: 'v1' | 'v2'): string {
  const map = engineMap(value);
  return String(map === undefined ? value : (map[engine] ?? byDefault));
}

/** Value of the form: a map only if the data engines differ. */
export function readForm(textOf: (field: string) => string, definition: Setting['definition']): Value {
  const engines = enginesOf(definition);
  const values = engines.map((engine) => readValue(textOf(engine), definition));
  const [first] = values;
  if (first === undefined) return readValue(textOf('value'), definition);
  if (values.every((value) => value === first)) return first;
  return JSON.stringify(Object.fromEntries(engines.map((engine, index) => [engine, values[index]])));
}

function asValue(own: unknown): Value {
  return typeof own === 'number' || typeof own === 'boolean' ? own : String(own);
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
