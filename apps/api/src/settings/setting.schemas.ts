import type { ClusterId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { id, pageOf } from '../platform/schemas.js';

const value = z.union([z.boolean(), z.number(), z.string()]);

export const settingSchema = z
  .object({
    name: z.string(),
    value: value.describe('In effect.'),
    default: value,
    isDefault: z.boolean(),
    definition: z.object({
      type: z.enum(['boolean', 'integer', 'number', 'enum', 'cron', 'list']),
      category: z.string(),
      description: z.string(),
      min: z.number().optional(),
      max: z.number().optional(),
      unit: z.string().optional(),
      options: z.array(z.string()).optional(),
    }),
  })
  .meta({ id: 'Setting' });

export class SettingPath extends dto(
  z.object({ clusterId: id<ClusterId>(), name: z.string().min(1).max(128) }),
) {}
export class PutSettingBody extends dto(z.strictObject({ value })) {}
export class SettingDto extends dto(settingSchema) {}
export class SettingPage extends dto(pageOf(settingSchema, 'SettingList')) {}
