import { cronProblem } from '../model/cron.js';
import { type EngineMap, engineMap } from '../model/engine-map.js';
import { StorageFault } from '../model/faults.js';
import type { DataEngine } from '../model/node.js';
import {
  type ClusterSettings,
  SETTINGS,
  type SettingDefinition,
  type SettingName,
  UNLIMITED,
} from '../model/setting.js';
import { commonValue, engineMapProblem } from './engine-maps.js';
import { NOT_APPLICABLE } from './longhorn-settings.js';

export type SettingValue = boolean | number | string;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

export function definitionOf(name: string): SettingDefinition {
  if (!isSettingName(name)) {
    const why = Object.hasOwn(NOT_APPLICABLE, name) ? `; of Longhorn's one: ${NOT_APPLICABLE[name]}` : '';
    throw new StorageFault('setting.not_found', { publicMessage: `there is no setting named ${name}${why}` });
  }
  return SETTINGS[name];
}

/**
 * Reads a value for a setting: of the setting's own type, or its text form (as CLIs and Longhorn write it).
 *
 * @throws StorageFault `setting.invalid` that names the bounds
 */
export function parseSettingValue(name: string, raw: unknown): SettingValue {
  const definition = definitionOf(name);
  const map = engineMap(raw);
  if (map !== undefined) {
    const common = definition.engines === undefined ? commonValue(map) : undefined;
    return common === undefined ? parsedMap(name, definition, map) : parseSettingValue(name, common);
  }
  const value = typeof raw === 'string' ? fromText(definition, raw) : raw;
  const problem = problemWith(definition, value);
  if (problem !== undefined) throw invalid(name, problem);
  // problemWith has checked that the value is of the definition's type.
  return value as SettingValue;
}

/** In one text for equal maps, which is how it is stored and shown. */
function parsedMap(name: string, definition: SettingDefinition, map: EngineMap): string {
  const problem = engineMapProblem(definition, map);
  if (problem !== undefined) throw invalid(name, problem);
  const engines = definition.engines ?? [];
  return JSON.stringify(
    Object.fromEntries(
      engines.map((engine) => [engine, parseSettingValue(name, map[engine] ?? definition.default)]),
    ),
  );
}

function invalid(name: string, problem: string): StorageFault {
  return new StorageFault('setting.invalid', {
    publicMessage: `${name} ${problem}`,
    errors: [{ pointer: '/value', detail: problem }],
  });
}

/** The settings of a cluster: stored values, and defaults for the rest. Unknown names are ignored (older rows). */
export function effectiveSettings(overrides: Readonly<Record<string, unknown>>): ClusterSettings {
  const ofEngine: Partial<Record<DataEngine, Record<string, unknown>>> = {};
  const entries = Object.entries<SettingDefinition>(SETTINGS).map(([name, definition]) => {
    const override = overrides[name];
    const value = override === undefined ? definition.default : parseSettingValue(name, override);
    const map = engineMap(value);
    if (map === undefined) return [name, value === UNLIMITED ? Number.POSITIVE_INFINITY : value];
    for (const engine of definition.engines ?? [])
      ofEngine[engine] = { ...ofEngine[engine], [name]: map[engine] };
    return [name, definition.default];
  });
  const byEngine = Object.keys(ofEngine).length === 0 ? {} : { ofEngine };
  // Each value was parsed by its own definition, which is what the type says.
  return { ...Object.fromEntries(entries), ...byEngine } as ClusterSettings;
}

function fromText(definition: SettingDefinition, text: string): unknown {
  if (definition.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (definition.type === 'enum' || definition.type === 'cron' || definition.type === 'list') return text;
  return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
}

function problemWith(definition: SettingDefinition, value: unknown): string | undefined {
  switch (definition.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'enum':
      return definition.options.some((option) => option === value)
        ? undefined
        : `must be one of ${definition.options.join(', ')}`;
    case 'list':
      return typeof value === 'string' && listItems(value).every((item) => definition.options.includes(item))
        ? undefined
        : `must be some of ${definition.options.join(', ')}, with semicolons between them`;
    case 'cron':
      return typeof value === 'string' ? cronProblem(value) : 'must be a schedule';
    case 'integer':
      return integerProblem(definition, value);
    case 'number':
      return typeof value === 'number' && inBounds(definition, value)
        ? undefined
        : `must be a number from ${definition.min} to ${definition.max}`;
  }
}

/** The parts of a `list` setting. */
export function listItems(value: string): string[] {
  return value
    .split(';')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function integerProblem(
  definition: Extract<SettingDefinition, { type: 'integer' }>,
  value: unknown,
): string | undefined {
  const { min, max, mayBeUnlimited } = definition;
  if (Number.isInteger(value) && inBounds(definition, Number(value))) return undefined;
  if (mayBeUnlimited === undefined) return `must be a whole number from ${min} to ${max}`;
  return value === UNLIMITED ? undefined : `must be a whole number from ${min} to ${max}, or ${UNLIMITED}`;
}

function inBounds(definition: { min: number; max: number }, value: number): boolean {
  return value >= definition.min && value <= definition.max;
}
