import { agreedChecksum } from '@holdfast/core/model/snapshot.js';
import type { PlacedSnapshot } from '@holdfast/database/queries/snapshots.js';
import type { z } from 'zod';
import type { snapshotSchema } from './snapshot.schemas.js';

export type SnapshotView = z.infer<typeof snapshotSchema>;

export function snapshotView({ snapshot, isHeadParent }: PlacedSnapshot): SnapshotView {
  return {
    id: snapshot.id,
    volumeId: snapshot.volumeId,
    name: snapshot.name,
    origin: snapshot.origin,
    state: snapshot.state,
    recurringName: snapshot.recurringName ?? null,
    parentId: snapshot.parentId ?? null,
    isHeadParent,
    size: snapshot.sizeBytes,
    checksum: agreedChecksum(snapshot) ?? null,
    checksums: snapshot.checksums.map((checksum) => ({ ...checksum })),
    isHashing: snapshot.hashRequest !== undefined,
    error: snapshot.trouble?.message ?? null,
    createdAt: snapshot.createdAt.toISOString(),
  };
}
