/**
 * Overrides of a volume: its own answers to settings of its cluster. Each is declared once, by `volume` in the setting's
 * definition; the volume's spec, the API's fields, the options of the CLI and the console's rows follow from it.
 */
import { SETTINGS, type SettingDefinition, type SettingName } from './setting.js';

type Definitions = typeof SETTINGS;
type OverridableSetting = {
  [Name in SettingName]: Definitions[Name] extends { volume: unknown } ? Name : never;
}[SettingName];

/** A switch of the cluster is `enabled` or `disabled` in a volume; `ignored` follows the cluster, as 0 does for a count. */
type OverrideOf<Definition> = Definition extends { type: 'boolean' }
  ? 'ignored' | 'enabled' | 'disabled'
  : Definition extends { type: 'enum'; options: readonly (infer Option)[] }
    ? 'ignored' | Option
    : number;

export type VolumeOverrides = {
  [Name in OverridableSetting as Definitions[Name]['volume']['field']]: OverrideOf<Definitions[Name]>;
};

export type OverrideField = keyof VolumeOverrides;

/** The setting that a field answers. */
export type FollowedSetting<Field extends OverrideField> = {
  [Name in OverridableSetting]: Definitions[Name]['volume']['field'] extends Field ? Name : never;
}[OverridableSetting];

/** One override: the volume's field, and the setting that it follows otherwise. */
export type VolumeOverride = {
  readonly field: OverrideField;
  readonly follows: OverridableSetting;
  readonly definition: SettingDefinition;
  readonly volume: NonNullable<SettingDefinition['volume']>;
};

/** Settings that protect the data first, then those of copies' places. */
const SHOWN_FIRST: readonly SettingDefinition['category'][] = ['snapshot', 'rebuild'];

/** All of them, in the order in which they are shown. */
export const VOLUME_OVERRIDES: readonly VolumeOverride[] = Object.freeze(
  Object.entries<SettingDefinition>(SETTINGS)
    .flatMap(([follows, definition]) =>
      definition.volume === undefined ? [] : [{ follows, definition, volume: definition.volume }],
    )
    .sort((a, b) => rank(a.definition) - rank(b.definition))
    // The entries of SETTINGS with `volume`: names and fields are those that the types above read off it.
    .map(
      ({ follows, definition, volume }) =>
        ({ field: volume.field, follows, definition, volume }) as VolumeOverride,
    ),
);

function rank({ category }: SettingDefinition): number {
  const at = SHOWN_FIRST.indexOf(category);
  return at === -1 ? SHOWN_FIRST.length : at;
}

/** Makes a value for each override. */
export function overridesFrom(answer: (override: VolumeOverride) => unknown): VolumeOverrides {
  const overrides: Partial<Record<OverrideField, unknown>> = {};
  for (const override of VOLUME_OVERRIDES) overrides[override.field] = answer(override);
  // `answer` answers for each field; that it answers with a value of the field is its caller's promise.
  return overrides as VolumeOverrides;
}

/** Title of an override, in quotes: the field's own name is for programs. */
export function quotedTitle(field: OverrideField): string {
  const title = VOLUME_OVERRIDES.find((override) => override.field === field)?.volume.title;
  return `"${title ?? field}"`;
}

/** The numbers that a volume may say; 0 beside them follows its cluster. `undefined` for words. */
export function overrideBounds({
  definition,
  volume,
}: Pick<VolumeOverride, 'definition' | 'volume'>): { min: number; max: number } | undefined {
  return 'min' in definition ? { min: volume.min ?? definition.min, max: definition.max } : undefined;
}

/** Value with which a volume follows its cluster. */
export function followingValue({ definition }: Pick<VolumeOverride, 'definition'>): 'ignored' | 0 {
  return definition.type === 'integer' || definition.type === 'number' ? 0 : 'ignored';
}

/** The words that a volume may say; `undefined` for a count. */
export function overrideWords({
  definition,
}: Pick<VolumeOverride, 'definition'>): readonly string[] | undefined {
  if (definition.type === 'boolean') return ['enabled', 'disabled'];
  return definition.type === 'enum' ? definition.options : undefined;
}
