import type { AccessFacts } from '@holdfast/access/decide-access.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { ProjectId, VolumeId } from '@holdfast/core/model/ids.js';
import { findVolumes, type StampedVolume } from '@holdfast/database/queries/volumes.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { Injectable } from '@nestjs/common';
import { Databases } from '../../http/databases.js';
import { StampedMemo, type WrittenText } from '../../http/stamped-memo.js';
import { mayWriteIn, volumeViewOf } from './volume.view.js';

/** The projects whose volumes the user may change. */
type Writable = ReadonlySet<ProjectId>;

/** Ten thousand volumes of three copies, which is a large cluster: if a fifth of them does not fit, lists cost half as much again. */
const BYTES_MAX = 36 * 1024 * 1024;

/**
 * Cache of listed volumes as JSON, by the versions of their rows (docs/design/api-contract.md). Lists are read far more often than volumes
 * change, and reading rows into views is most of what a list costs.
 */
@Injectable()
export class ShownVolumes {
  private readonly memo = new StampedMemo(BYTES_MAX);

  constructor(databases: Databases) {
    // After a crash Postgres may reuse transaction numbers of commits that were not synced.
    databases.onBroken(() => this.memo.clear());
  }

  /**
   * @param sql the transaction that has read the stamps as this user, and so with this user's access
   * @returns the view of each volume, in their order
   */
  async write(sql: Sql, volumes: readonly StampedVolume[], user: AccessFacts): Promise<WrittenText[]> {
    // A page has many volumes of few projects.
    const projects = [...new Set(volumes.map(({ projectId }) => projectId))];
    const writable = new Set(projects.filter((id) => mayWriteIn(user, id)));
    const known = volumes.map((one) => this.memo.find(keyOf(one, writable), one.stamp));
    const unknown = volumes.filter((_, index) => known[index] === undefined);
    const read = await this.read(sql, unknown, writable);
    return volumes.map(({ id }, index) => known[index] ?? read.get(id) ?? notThere(id));
  }

  private async read(
    sql: Sql,
    volumes: readonly StampedVolume[],
    writable: Writable,
  ): Promise<Map<VolumeId, WrittenText>> {
    if (volumes.length === 0) return new Map();
    const ids = volumes.map(({ id }) => id);
    const found = new Map((await findVolumes(sql, ids)).map((one) => [one.volume.id, one]));
    return new Map(
      volumes.map((one) => {
        const { id, projectId, stamp } = one;
        const view = volumeViewOf(found.get(id) ?? notThere(id), writable.has(projectId));
        return [id, this.memo.keep(keyOf(one, writable), stamp, JSON.stringify(view))];
      }),
    );
  }
}

/** Users that may change a volume see more of it. */
function keyOf({ id, projectId }: StampedVolume, writable: Writable): string {
  return writable.has(projectId) ? id : `${id} read`;
}

function notThere(id: VolumeId): never {
  throw new Bug(`volume ${id} was listed and is not there in the same snapshot`);
}
