/** Columns of a volume's lifecycle: written and read as one value. A CHECK of the table forbids what no state can mean. */
import { Bug } from '@holdfast/core/model/faults.js';
import type { NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { CopiesSurvey, SalvageRequest } from '@holdfast/core/model/salvage.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import {
  type AttachmentRequest,
  type EngineGrant,
  endpointOf,
  grantOf,
  holderOf,
  isDetachForced,
  requestOf,
  salvageOf,
  surveyOf,
  type VolumeEndpoint,
  type VolumeLifecycle,
  type VolumeState,
} from '@holdfast/core/model/volume-lifecycle.js';
import { asJson, type Column, columnsOf } from '../sql/table.js';
import { orUndefined, type Stored } from './json.js';

const column = columnsOf<Volume>();

/** A column that holds one part of the lifecycle, which is always replaced as a whole. */
function lifecycleColumn(name: string, part: (volume: Pick<Volume, 'lifecycle'>) => unknown): Column<Volume> {
  return column('lifecycle', name, (lifecycle) => part({ lifecycle }) ?? null);
}

function deletionTime({ lifecycle }: Pick<Volume, 'lifecycle'>): Date | undefined {
  return lifecycle.state === 'deleting' ? lifecycle.requestedAt : undefined;
}

export const LIFECYCLE_COLUMNS: readonly Column<Volume>[] = [
  column('lifecycle', 'state', ({ state }) => state),
  lifecycleColumn('attachment', (volume) => asJson(requestOf(volume))),
  lifecycleColumn('detach_forced', isDetachForced),
  lifecycleColumn('attached_node_id', holderOf),
  lifecycleColumn('engine_boot_id', (volume) => grantOf(volume)?.bootId),
  lifecycleColumn('endpoint', (volume) => asJson(endpointOf(volume))),
  lifecycleColumn('attachment_secret', (volume) => grantOf(volume)?.secret),
  lifecycleColumn('deletion_requested_at', deletionTime),
  lifecycleColumn('survey', (volume) => asJson(surveyOf(volume))),
  lifecycleColumn('salvage', (volume) => asJson(salvageOf(volume))),
];

export type LifecycleRow = {
  id: VolumeId;
  state: VolumeState;
  attachment: Stored<AttachmentRequest> | null;
  detach_forced: boolean;
  attached_node_id: NodeId | null;
  engine_boot_id: string | null;
  endpoint: VolumeEndpoint | null;
  attachment_secret: string | null;
  deletion_requested_at: Date | null;
  survey: Stored<CopiesSurvey> | null;
  salvage: Stored<SalvageRequest> | null;
};

export function readLifecycle(row: LifecycleRow): VolumeLifecycle {
  const { state, endpoint, deletion_requested_at: deletedAt, detach_forced: isForced } = row;
  const request = row.attachment === null ? undefined : readAttachment(row.attachment);
  const grant = readGrant(row);
  switch (state) {
    case 'creating':
      return { state, request };
    case 'detached':
      return { state };
    case 'attaching':
      return grant === undefined
        ? { state, request: required(row, request), grant }
        : { state, request: required(row, request), grant, ...readWait(row) };
    case 'attached':
      return {
        state,
        request: required(row, request),
        grant: required(row, grant),
        endpoint: required(row, endpoint),
      };
    case 'detaching':
      return { state, grant: required(row, grant), isForced, request };
    case 'deleting':
      return { state, requestedAt: required(row, deletedAt), grant };
  }
}

/** Fields of a start. In other states earlier versions may have left some of them, which are ignored. */
function readWait({ survey, salvage }: LifecycleRow) {
  return {
    survey: survey === null ? undefined : readSurvey(survey),
    salvage: salvage === null ? undefined : readSalvage(salvage),
  };
}

function readGrant(row: LifecycleRow): EngineGrant | undefined {
  const { attached_node_id: nodeId, engine_boot_id, attachment_secret } = row;
  if (nodeId === null) return undefined;
  return { nodeId, bootId: orUndefined(engine_boot_id), secret: attachment_secret ?? '' };
}

function required<Part>({ id, state }: LifecycleRow, part: Part | null | undefined): Part {
  if (part === null || part === undefined)
    throw new Bug(`volume ${id} lacks what a volume has that is ${state}`);
  return part;
}

function readAttachment(stored: Stored<AttachmentRequest>): AttachmentRequest {
  // JSON omits undefined fields, so a request for any node comes back without the key.
  const { nodeId, requestedAt, purpose } = stored;
  return { nodeId, requestedAt: new Date(requestedAt), ...(purpose === undefined ? {} : { purpose }) };
}

function readSurvey({ takenAt, copies, claimedBy }: Stored<CopiesSurvey>): CopiesSurvey {
  // JSON keeps ids as they are, but not their brands; it leaves out a record that is undefined.
  const read = copies as unknown as CopiesSurvey['copies'];
  const survey = {
    takenAt: new Date(takenAt),
    copies: read.map((copy) => ({ ...copy, record: copy.record })),
  };
  return claimedBy === undefined ? survey : { ...survey, claimedBy: claimedBy as CopiesSurvey['claimedBy'] };
}

function readSalvage({ replicaIds, requestedAt }: Stored<SalvageRequest>): SalvageRequest {
  return { replicaIds: replicaIds as SalvageRequest['replicaIds'], requestedAt: new Date(requestedAt) };
}
