import { VOLUME_OVERRIDES } from '@holdfast/core/model/volume-overrides.js';
import { OVERRIDING_CLUSTERS_MAX } from '@holdfast/database/queries/setting-overrides.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { pageOf, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

const value = z.union([z.boolean(), z.number(), z.string()]);

export const settingSchema = z
  .object({
    name: z.string().describe('Name of the setting, such as `default-replica-count`.'),
    value: value.describe('The value in effect, in the type that `definition` says.'),
    default: value.describe('The value in effect when the cluster sets none.'),
    isDefault: z.boolean().describe('True: the cluster sets none, and follows a default that may change.'),
    overrides: z
      .object({
        volumes: z
          .object({
            field: z
              .enum(VOLUME_OVERRIDES.map(({ field }) => field))
              .describe(
                'The field of a volume; volumes with an answer are listed by the filter `overrides=<field>`.',
              ),
            total: z
              .int()
              .min(0)
              .describe('Volumes with an answer of their own, of those that the caller may see.'),
          })
          .nullable()
          .describe('Volumes of the cluster that answer it for themselves; null where none may.'),
        clusters: z
          .object({
            total: z.int().min(0).describe('How many there are.'),
            shown: z
              .array(
                z.object({
                  id: uuid.describe('Id of the cluster.'),
                  name: z.string().describe('Name of the cluster.'),
                }),
              )
              .describe(`The first of them by name, ${OVERRIDING_CLUSTERS_MAX} at most.`),
          })
          .describe('Other clusters of the organization that set it.'),
      })
      .describe('Who else answers it.'),
    definition: z
      .object({
        type: z
          .enum(['boolean', 'integer', 'number', 'enum', 'cron', 'list'])
          .describe('`cron`: a schedule in UTC; `list`: some of `options`, with semicolons between them.'),
        category: z.string().describe('What it is about, such as `scheduling` or `rebuild`.'),
        description: z.string().describe('What it does.'),
        min: z.number().optional().describe('The lowest number allowed; left out where it is no number.'),
        max: z.number().optional().describe('The highest number allowed; left out where it is no number.'),
        mayBeUnlimited: z
          .boolean()
          .optional()
          .describe('True: the text `unlimited` may be set in place of a number; left out: it may not.'),
        unit: z.string().optional().describe('Unit of the number; left out where it has none.'),
        options: z
          .array(z.string())
          .optional()
          .describe('The texts allowed; left out where it is not chosen from a list.'),
        engines: z
          .array(z.enum(['v1', 'v2']))
          .optional()
          .describe(
            'The data engines whose volumes may each have a value of their own; left out where all have one. A map is shown as its JSON text.',
          ),
      })
      .describe('What may be set, and what that means.'),
    version: version.describe(
      "Grows with each change of one of the cluster's settings; quoted, it is the ETag for `If-Match`.",
    ),
  })
  .meta({ id: 'Setting' });

export class SettingPath extends dto(
  z.object({
    clusterId: clusterIdInPath,
    name: z.string().min(1).max(128).describe('Name of the setting.'),
  }),
) {}
export class PutSettingBody extends dto(
  z.strictObject({
    value: z
      .union([value, z.record(z.enum(['v1', 'v2']), value)])
      .describe(
        'The new value, in the type that the definition says; a map where each data engine has its own.',
      ),
  }),
) {}
export class SettingDto extends dto(settingSchema) {}
export class SettingPage extends dto(pageOf(settingSchema, 'SettingList')) {}
