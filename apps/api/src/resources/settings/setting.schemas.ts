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
    value: value.describe('Effective value, in the type of `definition`.'),
    default: value.describe('Effective value if the cluster sets none.'),
    isDefault: z
      .boolean()
      .describe('True: the cluster sets none, and follows the default, which may change.'),
    overrides: z
      .object({
        volumes: z
          .object({
            field: z
              .enum(VOLUME_OVERRIDES.map(({ field }) => field))
              .describe(
                'Field of the volume; the filter `overrides=<field>` lists volumes with their own value.',
              ),
            total: z.int().min(0).describe('Number of volumes with their own value that the caller may see.'),
          })
          .nullable()
          .describe('Volumes of the cluster that override it; null: not possible.'),
        clusters: z
          .object({
            total: z.int().min(0).describe('Number of them.'),
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
      .describe('Values at other levels.'),
    definition: z
      .object({
        type: z
          .enum(['boolean', 'integer', 'number', 'enum', 'cron', 'list'])
          .describe('`cron`: a schedule in UTC; `list`: some of `options`, with semicolons between them.'),
        category: z.string().describe('Area of the setting, such as `scheduling` or `rebuild`.'),
        description: z.string().describe('Effect of the setting.'),
        min: z.number().optional().describe('Minimum of a number; otherwise left out.'),
        max: z.number().optional().describe('Maximum of a number; otherwise left out.'),
        mayBeUnlimited: z
          .boolean()
          .optional()
          .describe('True: the text `unlimited` is allowed in place of a number; left out: false.'),
        unit: z.string().optional().describe('Unit of the number; left out: none.'),
        options: z.array(z.string()).optional().describe('Allowed texts; left out: no list.'),
        engines: z
          .array(z.enum(['v1', 'v2']))
          .optional()
          .describe(
            'Data engines that may each have a value of their own, in a map as JSON text; left out: one value for all.',
          ),
      })
      .describe('Definition: allowed values and their meaning.'),
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
      .describe('New value, in the type of the definition; a map for values by data engine.'),
  }),
) {}
export class SettingDto extends dto(settingSchema) {}
export class SettingPage extends dto(pageOf(settingSchema, 'SettingList')) {}
