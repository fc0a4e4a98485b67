import {
  overrideBounds,
  overrideWords,
  VOLUME_OVERRIDES,
  type VolumeOverride,
  type VolumeOverrides,
} from '@holdfast/core/model/volume-overrides.js';
import { z } from 'zod';

/** The fields of a volume that override settings of its cluster. */
export const overrideSchemas = Object.fromEntries(
  VOLUME_OVERRIDES.map((override) => [override.field, schemaOf(override)]),
  // Each schema takes the values that the type of its field is made of, by the same definition.
) as { [Field in keyof VolumeOverrides]: z.ZodType<VolumeOverrides[Field]> };

function schemaOf(override: VolumeOverride): z.ZodType<string | number> {
  const { volume } = override;
  const words = overrideWords(override);
  if (words !== undefined) {
    return z.enum(['ignored', ...words]).describe(`${volume.description} \`ignored\`: as the cluster says.`);
  }
  const { min, max } = overrideBounds(override) ?? { min: 0, max: Number.MAX_SAFE_INTEGER };
  return z
    .int()
    .min(Math.min(0, min))
    .max(max)
    .describe(`${volume.description} From ${min} to ${max}; 0: as the cluster says.`);
}
