/** Engine map: the value of a setting for each data engine, as Longhorn writes it: `{"v1":"8","v2":"10"}`. */

/** The values of the parts, still unread; `undefined`: it is no map. */
export type EngineMap = Readonly<Record<string, unknown>>;

/** @param raw as it was set: an object, or its JSON text */
export function engineMap(raw: unknown): EngineMap | undefined {
  if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) return { ...raw };
  if (typeof raw !== 'string' || !raw.trimStart().startsWith('{')) return undefined;
  try {
    return engineMap(JSON.parse(raw));
  } catch {
    return undefined;
  }
}
