import { cronProblem } from '../model/cron.js';
import { StorageFault } from '../model/faults.js';
import {
  type ClusterSettings,
  SETTINGS,
  type SettingDefinition,
  type SettingName,
} from '../model/setting.js';
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
  const value = typeof raw === 'string' ? fromText(definition, raw) : raw;
  const problem = problemWith(definition, value);
  if (problem !== undefined) {
    throw new StorageFault('setting.invalid', {
      publicMessage: `${name} ${problem}`,
      errors: [{ pointer: '/value', detail: problem }],
    });
  }
  // problemWith has checked that the value is of the definition's type.
  return value as SettingValue;
}

/** The settings of a cluster: what was set, and defaults for the rest. Unknown names are ignored (older rows). */
export function effectiveSettings(overrides: Readonly<Record<string, unknown>>): ClusterSettings {
  const entries = Object.entries(SETTINGS).map(([name, definition]) => {
    const override = overrides[name];
    return [name, override === undefined ? definition.default : parseSettingValue(name, override)];
  });
  // Each value was parsed by its own definition, which is what the type says.
  return Object.fromEntries(entries) as ClusterSettings;
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
      return Number.isInteger(value) && inBounds(definition, Number(value))
        ? undefined
        : `must be a whole number from ${definition.min} to ${definition.max}`;
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

function inBounds(definition: { min: number; max: number }, value: number): boolean {
  return value >= definition.min && value <= definition.max;
}
