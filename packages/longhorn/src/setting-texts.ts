import { z } from 'zod';

const byEngine = z.object({ v1: z.string().optional(), v2: z.string().optional() }).strict();

/** A setting's text for each engine: from 1.10 a JSON object may name either or both; an omitted one is not set. */
export function parseEngineTexts(value: string): { readonly v1: string; readonly v2: string } {
  const parsed = value.trimStart().startsWith('{') ? byEngine.safeParse(jsonOf(value)).data : undefined;
  return parsed === undefined ? { v1: value, v2: value } : { v1: parsed.v1 ?? '', v2: parsed.v2 ?? '' };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
