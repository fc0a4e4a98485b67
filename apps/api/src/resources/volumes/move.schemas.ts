/** Move of a copy: the request, and the plan with its target or refusal. */
import type { VolumeView } from '@holdfast/control/ports/store.js';
import {
  decideMove,
  type MoveCandidate,
  type MoveFound,
  type MoveWish,
  moveCandidates,
  moveText,
} from '@holdfast/core/balance/plan-move.js';
import { FAULTS, StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskId, NodeId } from '@holdfast/core/model/ids.js';
import { nodeById, nodeName } from '@holdfast/core/model/volume-facts.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, uuid } from '../../http/schemas.js';
import { namedPlaceSchema } from './explanation.schemas.js';
import { refusalSchema } from './plan-refusal.schemas.js';

export class MoveBody extends dto(
  z.strictObject({
    nodeId: id<NodeId>()
      .nullish()
      .describe('Id of the target node; null or left out: that of the disk, or any that fits.'),
    diskId: id<DiskId>()
      .nullish()
      .describe('Id of the target disk; null or left out: any of the node that fits.'),
  }),
) {}

export const movePlanSchema = z
  .object({
    replicaId: uuid.describe('Id of the copy.'),
    isPossible: z.boolean().describe('True: the move can start, or is under way.'),
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    from: namedPlaceSchema.nullable().describe('Present place of the copy; null: none.'),
    to: namedPlaceSchema.nullable().describe('Target of the move; null: not possible, or under way.'),
    bytes: bytes.describe('Bytes to copy, as far as known.'),
    refusal: refusalSchema.nullable().describe('Reason why it is not possible; null: it is possible.'),
    candidates: z
      .array(
        z.object({
          nodeId: uuid.describe('Id of the node.'),
          nodeName: z.string().describe('Name of the node, unique in its cluster.'),
          diskId: uuid.describe('Id of the disk.'),
          diskName: z.string().describe('Name of the disk; unique on its node.'),
          isPossible: z.boolean().describe('True: the copy could move there.'),
          reason: z.string().nullable().describe('Stable code of the refusal; null: none.'),
          message: z.string().nullable().describe('Reason of the refusal, for people; null: none.'),
          cure: z.string().nullable().describe('Possible remedy; null: not needed.'),
        }),
      )
      .describe('Every disk within the request, fitting ones first.'),
  })
  .meta({ id: 'MovePlan' });

export class MovePlanDto extends dto(movePlanSchema) {}
export type MovePlanView = z.infer<typeof movePlanSchema>;

export function wishOf(replicaId: MoveWish['replicaId'], { nodeId, diskId }: MoveBody): MoveWish {
  return { replicaId, nodeId: nodeId ?? undefined, diskId: diskId ?? undefined };
}

/** @throws StorageFault when copy, node or disk do not exist */
export function movePlanView(view: VolumeView, wish: MoveWish, now: Date): MovePlanView {
  const decision = decideMove(view, wish, now);
  if (decision.kind === 'refuse' && FAULTS[decision.code].kind === 'not-found') {
    throw new StorageFault(decision.code, { publicMessage: decision.why, cures: decision.cures });
  }
  const replica = view.replicas.find((one) => one.id === wish.replicaId);
  const isMove = decision.kind === 'move';
  return {
    replicaId: wish.replicaId,
    isPossible: decision.kind !== 'refuse',
    sentence: isMove ? sentenceOf(decision, view) : decision.why,
    from: placeView(view, replica?.diskId),
    to: isMove ? placeView(view, decision.move.to.diskId) : null,
    bytes: view.volume.writtenBytes,
    refusal:
      decision.kind === 'refuse'
        ? { code: decision.code, detail: decision.why, cures: [...decision.cures] }
        : null,
    candidates: moveCandidates(view, wish, now).map(candidateView),
  };
}

function sentenceOf({ move, attaches }: MoveFound, view: VolumeView): string {
  const moves = `the copy would move ${moveText(move, view)}`;
  return attaches ? `${moves}; the volume is attached without an address until it is there` : moves;
}

function placeView({ fleet }: VolumeView, diskId: DiskId | undefined): MovePlanView['from'] {
  const disk = fleet.disks.find((one) => one.id === diskId);
  if (disk === undefined) return null;
  const { nodeId, name: diskName } = disk;
  const zone = nodeById(fleet, nodeId)?.zone ?? null;
  return { nodeId, nodeName: nodeName(fleet, nodeId), zone, diskId: disk.id, diskName };
}

function candidateView({ refusal, ...place }: MoveCandidate): MovePlanView['candidates'][number] {
  return {
    ...place,
    isPossible: refusal === undefined,
    reason: refusal?.reason ?? null,
    message: refusal?.message ?? null,
    cure: refusal?.cure ?? null,
  };
}
