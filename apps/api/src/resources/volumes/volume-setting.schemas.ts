import type { VolumeSpec } from '@holdfast/core/model/volume.js';
import {
  followingValue,
  overrideBounds,
  overrideWords,
  VOLUME_OVERRIDES,
  type VolumeOverride,
} from '@holdfast/core/model/volume-overrides.js';
import { clusterValue, effectiveValue, ownValue } from '@holdfast/core/policy/volume-settings.js';
import { effectiveSettings } from '@holdfast/core/settings/effective.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { pageOf } from '../../http/schemas.js';

const value = z.union([z.string(), z.number()]);

/** A setting that a volume may override. */
export const volumeSettingSchema = z
  .object({
    name: z.enum(VOLUME_OVERRIDES.map(({ field }) => field)).describe('Field of the volume that sets it.'),
    value: value.describe('Effective value, as a volume spells it.'),
    own: value.nullable().describe("The volume's own value; null: it follows its cluster."),
    source: z
      .enum(['volume', 'cluster', 'default'])
      .describe('Source of the effective value; `default`: neither the volume nor its cluster sets one.'),
    follows: z.string().describe("Name of the cluster's setting that it follows without a value of its own."),
    clusterValue: value.describe('Value of that setting, as a volume spells it.'),
    followWith: value.describe('Value of the field with which it follows the cluster again.'),
    definition: z
      .object({
        description: z.string().describe('Effect of the setting.'),
        options: z
          .array(z.string())
          .optional()
          .describe('Allowed texts, beside `followWith`; left out for a number.'),
        min: z.int().optional().describe('Minimum; left out for a text.'),
        max: z.int().optional().describe('Maximum; left out for a text.'),
      })
      .describe('Definition: allowed values and their meaning.'),
  })
  .meta({ id: 'VolumeSetting' });

export type VolumeSettingView = z.infer<typeof volumeSettingSchema>;

export class VolumeSettingPage extends dto(pageOf(volumeSettingSchema, 'VolumeSettingList')) {}

/** @param overrides of the cluster; all other settings have their defaults */
export function volumeSettingViews(
  spec: VolumeSpec,
  overrides: Readonly<Record<string, unknown>>,
): VolumeSettingView[] {
  const settings = effectiveSettings(overrides);
  return VOLUME_OVERRIDES.map((override) => {
    const { field, follows, definition } = override;
    const own = ownValue(spec, field) ?? null;
    const bySetting = Object.hasOwn(overrides, follows) ? 'cluster' : 'default';
    return {
      name: field,
      value: effectiveValue(spec, settings, field),
      own,
      source: own === null ? bySetting : 'volume',
      follows,
      clusterValue: clusterValue(spec, settings, field),
      followWith: followingValue(override),
      definition: { description: definition.description, ...choicesOf(override) },
    };
  });
}

function choicesOf(override: VolumeOverride): Omit<VolumeSettingView['definition'], 'description'> {
  const words = overrideWords(override);
  if (words !== undefined) return { options: [...words] };
  return overrideBounds(override) ?? {};
}
