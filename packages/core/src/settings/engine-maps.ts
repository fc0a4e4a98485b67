/**
 * Engine maps: a value for each data engine, as Longhorn writes some settings: `{"v1":"8","v2":"10"}`. A plain value is the
 * value of every engine.
 */
import type { EngineMap } from '../model/engine-map.js';
import type { DataEngine } from '../model/node.js';
import type { ClusterSettings, SettingDefinition, SettingName } from '../model/setting.js';

/**
 * The value that a map gives to all of its data engines, in the same text; `undefined`: none. So a map of Longhorn's is taken as well
 * for a setting that has one value here.
 */
export function commonValue(map: EngineMap): unknown {
  const [first, ...others] = Object.values(map).map(String);
  const areEngines = Object.keys(map).every((key) => key === 'v1' || key === 'v2');
  return areEngines && others.every((value) => value === first) ? first : undefined;
}

/** Error in the keys of a map; the values are checked one by one. */
export function engineMapProblem(definition: SettingDefinition, map: EngineMap): string | undefined {
  const { engines } = definition;
  if (engines === undefined)
    return 'has one value for all data engines: a map may only give v1 and v2 the same';
  const keys = Object.keys(map).sort();
  const isKnown = keys.length > 0 && keys.every((key) => engines.some((engine) => engine === key));
  if (definition.mayLeaveOut)
    return isKnown ? undefined : `must be a map with ${engines.join(' or ')}, or one value for all`;
  const isWhole = isKnown && keys.length === engines.length;
  return isWhole ? undefined : `must be a map with exactly ${engines.join(' and ')}, or one value for all`;
}

/** Do volumes of each data engine have a value of their own? */
export function isMapped(settings: ClusterSettings, name: SettingName): boolean {
  return Object.values(settings.ofEngine ?? {}).some((values) => Object.hasOwn(values, name));
}

/** The settings as volumes of one data engine have them. */
export function settingsOf(settings: ClusterSettings, engine: DataEngine): ClusterSettings {
  const own = settings.ofEngine?.[engine];
  return own === undefined ? settings : { ...settings, ...own };
}
