/** Checks the commands that engines send to copies; their meaning is in the data engine's `commands.ts`. */
import { copyRecordSchema } from '@holdfast/core/model/agent-protocol.js';
import { z } from 'zod';

const counter = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const uuid = z.string().uuid();
const epoch = counter;

/** A copy holds at most 250 layers. */
const LAYERS_MAX = 250;

const frozenLayer = z.object({
  id: uuid,
  name: z.string().min(1).max(256),
  origin: z.enum(['user', 'system']),
});

const pullSource = z.object({
  replicaId: uuid,
  controlUrl: z.string().url(),
  nbdHost: z.string().max(255),
  nbdPort: z.number().int().min(1).max(65535),
  secret: z.string().max(256),
});

const pulledLayer = frozenLayer.extend({
  method: z.enum(['full', 'delta', 'fast']),
  reason: z.string().max(1024),
  heldBytes: counter,
});

const rebuild = z.object({ epoch, rebuildId: uuid });

export const COMMAND_SCHEMAS = {
  open: z.object({ epoch }),
  record: z.object({ epoch, record: copyRecordSchema }),
  snapshot: z.object({ epoch, layer: frozenLayer }),
  chain: z.object({ epoch }),
  'merge-down': z.object({ epoch, layerId: uuid, firstWindow: counter }),
  stat: z.object({ epoch }),
  intent: z.object({ epoch }),
  settle: z.object({ epoch }),
  'start-over': rebuild.extend({ layers: z.array(frozenLayer).max(LAYERS_MAX) }),
  pull: rebuild.extend({ source: pullSource, layers: z.array(pulledLayer).max(LAYERS_MAX) }),
  progress: rebuild,
  'cancel-pull': rebuild,
  hashes: z.object({ epoch, layerId: uuid, firstWindow: counter }),
};
