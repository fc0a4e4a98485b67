import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, uuid } from '../../http/schemas.js';

/** An answer's own media type, so that clients do not mistake a plan for the object. */
export const DRY_RUN_TYPE = 'application/vnd.holdfast.dry-run+json';

const fields = z.record(z.string(), z.unknown()).nullable();

export const dryRunSchema = z
  .object({
    dryRun: z.literal(true).describe('Nothing was changed.'),
    changes: z.boolean().describe('False: the request would change nothing.'),
    before: fields.describe('Present values of the fields that would change; null: none.'),
    after: fields.describe(
      'Their values right after the request; null: none, or the object would be deleted.',
    ),
    events: z
      .array(
        z.object({
          type: z.string().describe('Type of the event.'),
          message: z.string().describe('Text of the event.'),
        }),
      )
      .describe('Events that would be emitted at once.'),
    copies: z
      .array(
        z.object({
          effect: z
            .enum(['removed', 'built', 'moved', 'discarded'])
            .describe('Effect on the copy. `discarded`: its data is dropped, and it is rebuilt.'),
          volumeId: uuid.describe('Id of its volume.'),
          volumeName: z.string().describe('Name of the volume, unique in its project.'),
          replicaId: uuid.nullable().describe('Id of the copy; null: it does not exist yet.'),
          nodeId: uuid.nullable().describe('Id of its node; null: none yet.'),
          diskId: uuid.nullable().describe('Id of its disk; null: none yet.'),
          bytes: bytes.describe('Bytes of data to remove or to copy.'),
        }),
      )
      .describe('Effects on copies; the first thousand.'),
    copyCount: z.int().describe('Number of affected copies.'),
    bytesRemoved: bytes.describe('Bytes of data that would be removed from disks.'),
    bytesCopied: bytes.describe('Bytes of data that would have to be copied.'),
    notes: z.array(z.string()).describe('Further effects, for people.'),
  })
  .meta({ id: 'DryRun' });

export class DryRunDto extends dto(dryRunSchema) {}
export type DryRunView = z.infer<typeof dryRunSchema>;
