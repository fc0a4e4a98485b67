import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, uuid } from '../../http/schemas.js';

/** An answer's own media type, so that a client which reads answers by their type does not take a plan for the object. */
export const DRY_RUN_TYPE = 'application/vnd.holdfast.dry-run+json';

const fields = z.record(z.string(), z.unknown()).nullable();

export const dryRunSchema = z
  .object({
    dryRun: z.literal(true).describe('Nothing was changed.'),
    changes: z.boolean().describe('False: things are so already, and the request would change nothing.'),
    before: fields.describe('Fields of the object that would change, as they are; null: none.'),
    after: fields.describe('The same fields as they would be at first; null: none, or it would be gone.'),
    events: z
      .array(
        z.object({
          type: z.string().describe('Type of the event.'),
          message: z.string().describe('What it says.'),
        }),
      )
      .describe('What would be told at once.'),
    copies: z
      .array(
        z.object({
          effect: z
            .enum(['removed', 'built', 'moved', 'discarded'])
            .describe('What becomes of it. `discarded`: its data is given up, and it is built anew.'),
          volumeId: uuid.describe('Id of its volume.'),
          volumeName: z.string().describe('What the volume is called in lists and messages.'),
          replicaId: uuid.nullable().describe('Id of the copy; null: it is not there yet.'),
          nodeId: uuid.nullable().describe('Id of the node that it is on; null: none yet.'),
          diskId: uuid.nullable().describe('Id of the disk that it is on; null: none yet.'),
          bytes: bytes.describe('Bytes of data that are removed, or have to be copied.'),
        }),
      )
      .describe('What would become of copies, at most the first thousand.'),
    copyCount: z.int().describe('How many copies that are.'),
    bytesRemoved: bytes.describe('Bytes of data that would be removed from disks.'),
    bytesCopied: bytes.describe('Bytes of data that would have to be copied.'),
    notes: z.array(z.string()).describe('What else would come of it, for people.'),
  })
  .meta({ id: 'DryRun' });

export class DryRunDto extends dto(dryRunSchema) {}
export type DryRunView = z.infer<typeof dryRunSchema>;
