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

/** One of the settings that a volume may answer for itself. */
export const volumeSettingSchema = z
  .object({
    name: z
      .enum(VOLUME_OVERRIDES.map(({ field }) => field))
      .describe('The field of the volume that sets it.'),
    value: value.describe('The value in effect, in the words of a volume.'),
    own: value.nullable().describe("The volume's own answer; null where it follows its cluster."),
    source: z
      .enum(['volume', 'cluster', 'default'])
      .describe('Whose answer is in effect; `default`: neither the volume nor its cluster sets one.'),
    follows: z.string().describe("The cluster's setting that it follows without an answer of its own."),
    clusterValue: value.describe('What that setting says, in the words of a volume.'),
    followWith: value.describe('What to set the field to, to follow the cluster again.'),
    definition: z
      .object({
        description: z.string().describe('What it does.'),
        options: z
          .array(z.string())
          .optional()
          .describe('The texts allowed, beside `followWith`; left out for a number.'),
        min: z.int().optional().describe('The lowest number allowed; left out for a text.'),
        max: z.int().optional().describe('The highest number allowed; left out for a text.'),
      })
      .describe('What the field may be set to, and what that means.'),
  })
  .meta({ id: 'VolumeSetting' });

export type VolumeSettingView = z.infer<typeof volumeSettingSchema>;

export class VolumeSettingPage extends dto(pageOf(volumeSettingSchema, 'VolumeSettingList')) {}

/** @param overrides what was set in the cluster; the rest has its default */
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
