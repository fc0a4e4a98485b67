/** Answers of the API as examples of its OpenAPI document: without what differs from one recording to the next. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
/** A token's prefix, and its secret. */
const SECRET = /\b(hf[a-z]*_)[\w-]{16,}/g;
const HASH = /\b[0-9a-f]{64}\b/g;
const AT = '2026-01-01T12:00:00.000Z';
/** One item shows what a list holds. */
const ITEMS_MAX = 1;

/** The same ids get the same numbers all over the answer; times, hashes and secrets are those of nothing. */
export function recordedExample(answer: unknown): unknown {
  const numbers = new Map<string, number>();
  const text = JSON.stringify(shortened(answer))
    .replace(UUID, (id) => {
      const number = numbers.get(id) ?? numbers.size + 1;
      numbers.set(id, number);
      return `01a1fd5b-0000-7000-8000-${String(number).padStart(12, '0')}`;
    })
    .replace(TIME, AT)
    .replace(SECRET, '$1….')
    .replace(HASH, '0'.repeat(64));
  return JSON.parse(text);
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}
