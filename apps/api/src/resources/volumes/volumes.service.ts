import type { VolumeView } from '@holdfast/control/ports/store.js';
import { cloneVolume } from '@holdfast/control/use-cases/clone-volume.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { assertOwnCluster } from '@holdfast/control/use-cases/own-cluster.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import type { MoveWish } from '@holdfast/core/balance/plan-move.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, compareIds, type ProjectId } from '@holdfast/core/model/ids.js';
import type { GrantedTags, VolumeVerification } from '@holdfast/core/model/volume.js';
import type { CreationTiming } from '@holdfast/database/creation/cluster-batcher.js';
import { CreationBatcher } from '@holdfast/database/creation/creation-batcher.js';
import type { ListRequest, Page } from '@holdfast/database/queries/list-rows.js';
import { findProjectId } from '@holdfast/database/queries/tenancy.js';
import {
  findVolume,
  listStampedVolumes,
  listVolumes,
  type VolumeWithReplicas,
} from '@holdfast/database/queries/volumes.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import { Databases } from '../../http/databases.js';
import { SharedRead } from '../../http/shared-read.js';
import type { WrittenText } from '../../http/stamped-memo.js';
import { requireUsableCluster } from '../clusters/require-cluster.js';
import { readVolumeOverrides } from '../settings/read-settings.js';
import { ThreadPool } from '../threads/thread-pool.js';
import type { explainVolume } from './explain-volume.js';
import { type MovePlanView, movePlanView } from './move.schemas.js';
import { type PatchPlanView, patchPlanView } from './patch-plan.schemas.js';
import { readVolume, type VolumeKey, volumeNotFound } from './read-volume.js';
import { type SalvageAdviceView, salvageAdviceView } from './salvage.schemas.js';
import { ShownVolumes } from './shown-volumes.js';
import { Verifications } from './verifications.js';
import type { CloneBody, CreateVolumeBody, PatchVolumeBody } from './volume.schemas.js';
import { type VolumeSettingView, volumeSettingViews } from './volume-setting.schemas.js';

declare module '../threads/thread-pool.js' {
  interface Jobs {
    explainVolume: typeof explainVolume;
  }
}

/** Destination of a new volume: a project, and perhaps a granted cluster. */
type Destination = { projectId: ProjectId; grantedTags: GrantedTags | undefined };

/** Operations on volumes. REST and GraphQL are two thin adapters over it. */
@Injectable()
export class VolumesService {
  private readonly creations: CreationBatcher;
  private readonly destinations = new SharedRead<{
    projectId: ProjectId | undefined;
    grantedTags: GrantedTags | undefined;
  }>();

  constructor(
    databases: Databases,
    private readonly threads: ThreadPool,
    private readonly verifications: Verifications,
    private readonly shown: ShownVolumes,
  ) {
    this.creations = new CreationBatcher((organizationId) => ({
      ...databases.organization(organizationId),
      granted: true,
    }));
  }

  async list(tenant: Tenant, clusterId: ClusterId, request: ListRequest) {
    return tenant.read(async (sql) => {
      const page = await listVolumes(sql, clusterId, request);
      // A cluster with a visible volume exists; checking it first would cost a round trip for each page.
      if (page.items.length === 0) await requireUsableCluster(sql, clusterId);
      return page;
    });
  }

  /**
   * The same page, whose volumes are views in JSON already.
   *
   * @param clusterId left out: of all clusters that the caller sees
   */
  async listWritten(
    tenant: Tenant,
    clusterId: ClusterId | undefined,
    request: ListRequest,
  ): Promise<Page<WrittenText>> {
    return tenant.readPage(request.filter, async (sql) => {
      const page = await listStampedVolumes(sql, clusterId, request);
      if (page.items.length === 0 && clusterId !== undefined) await requireUsableCluster(sql, clusterId);
      return { ...page, items: await this.shown.write(sql, page.items, tenant.actor) };
    });
  }

  get(tenant: Tenant, key: VolumeKey): Promise<VolumeWithReplicas> {
    return readVolume(tenant, key);
  }

  /** @param onTiming called with the durations of the steps */
  async create(
    tenant: Tenant,
    clusterId: ClusterId,
    body: CreateVolumeBody,
    onTiming?: (timing: CreationTiming) => void,
  ): Promise<VolumeWithReplicas> {
    const earlier = await this.createdEarlier(tenant, clusterId);
    if (earlier !== undefined) return earlier;
    const { size, projectId: wantedProject, ...spec } = body;
    const destination = await this.destinationOf(tenant, clusterId, wantedProject);
    const { organizationId } = tenant.actor;
    const input = { ...spec, ...destination, sizeBytes: size, organizationId, clusterId };
    const creations = this.creations.for({
      organizationId,
      audit: () => tenant.auditEntry(),
      traceparent: tenant.traceparent,
      ...(onTiming === undefined ? {} : { onTiming }),
    });
    const { volume, replicas } = await createVolume({ ...tenant.volumePorts, creations }, input);
    // In the order in which they are read.
    return { volume, replicas: [...replicas].sort((a, b) => compareIds(a.replica.id, b.replica.id)) };
  }

  async clone(tenant: Tenant, key: VolumeKey, body: CloneBody): Promise<VolumeWithReplicas> {
    await this.get(tenant, key);
    const earlier = await this.createdEarlier(tenant, key.clusterId);
    if (earlier !== undefined) return earlier;
    const { organizationId } = tenant.actor;
    const creations = this.creations.for({ organizationId, audit: () => tenant.auditEntry() });
    const { size: sizeBytes, ...rest } = body;
    const ports = { ...tenant.volumePorts, creations };
    const volumeId = await cloneVolume(ports, { ...rest, sizeBytes, volumeId: key.volumeId });
    return this.get(tenant, { clusterId: key.clusterId, volumeId });
  }

  async patch(tenant: Tenant, key: VolumeKey, patch: PatchVolumeBody, ifVersion: number | undefined) {
    await this.get(tenant, key);
    await patchVolume(tenant.volumePorts, { volumeId: key.volumeId, patch, ifVersion });
    return this.get(tenant, key);
  }

  /** Settings that a volume may override. */
  async settings(tenant: Tenant, key: VolumeKey): Promise<VolumeSettingView[]> {
    const { volume } = await this.get(tenant, key);
    return volumeSettingViews(volume.spec, await readVolumeOverrides(tenant, key.clusterId));
  }

  async delete(tenant: Tenant, key: VolumeKey, ifVersion: number | undefined): Promise<VolumeWithReplicas> {
    const before = await this.get(tenant, key);
    await requestDelete(tenant.volumePorts, { volumeId: key.volumeId, ifVersion });
    // The worker may have finished already.
    return (await tenant.read((sql) => findVolume(sql, key))) ?? before;
  }

  /** Advice for a salvage: usable copies when too few answer, and the loss. */
  async adviseSalvage(tenant: Tenant, key: VolumeKey): Promise<SalvageAdviceView> {
    return salvageAdviceView(await this.view(tenant, key));
  }

  verify(tenant: Tenant, key: VolumeKey): Promise<VolumeVerification> {
    return this.verifications.verify(tenant, key);
  }

  /** Plan of a copy's move: its target, or the refusal. Changes nothing. */
  async planMove(tenant: Tenant, key: VolumeKey, wish: MoveWish): Promise<MovePlanView> {
    return movePlanView(await this.placesView(tenant, key), wish, tenant.now);
  }

  /** Plan of a change's effects on the volume's copies. Changes nothing. */
  async planPatch(tenant: Tenant, key: VolumeKey, patch: PatchVolumeBody): Promise<PatchPlanView> {
    return patchPlanView(await this.placesView(tenant, key), patch);
  }

  /** As the worker sees it. */
  private async view(tenant: Tenant, key: VolumeKey): Promise<VolumeView> {
    await this.get(tenant, key);
    const view = await tenant.volumePorts.store.loadVolume(key.volumeId);
    if (view === undefined) throw volumeNotFound(key.volumeId);
    return view;
  }

  /** With the possible places of its copies, which in a granted cluster only the cluster's organization may know. */
  private async placesView(tenant: Tenant, key: VolumeKey): Promise<VolumeView> {
    const view = await this.view(tenant, key);
    assertOwnCluster(view.volume);
    return view;
  }

  async explain(tenant: Tenant, key: VolumeKey) {
    const view = await this.placesView(tenant, key);
    return this.threads.run('explainVolume', [view, asId(tenant.newId()), tenant.now], tenant);
  }

  /** The volume of an earlier try of this request, whose process died before it could answer. */
  private async createdEarlier(
    tenant: Tenant,
    clusterId: ClusterId,
  ): Promise<VolumeWithReplicas | undefined> {
    const { reservedId } = tenant;
    if (reservedId === undefined) return undefined;
    return tenant.read((sql) => findVolume(sql, { clusterId, volumeId: asId(reservedId) }));
  }

  private async destinationOf(
    tenant: Tenant,
    clusterId: ClusterId,
    wanted: ProjectId | undefined,
  ): Promise<Destination> {
    const { organizationId, projectId: ofToken } = tenant.actor;
    const named = wanted ?? ofToken;
    // Callers that see the same projects share an answer.
    const seen = tenant.projectIds?.join() ?? 'all';
    const { projectId, ...rest } = await this.destinations.ask(
      `${organizationId} ${seen} ${named ?? ''} ${clusterId}`,
      () =>
        tenant.read(async (sql) => ({
          projectId: await findProjectId(sql, named),
          ...(await requireUsableCluster(sql, clusterId)),
        })),
    );
    if (projectId !== undefined) return { projectId, ...rest };
    const detail =
      named === undefined ? 'is needed: there are several projects' : `there is no project ${named}`;
    throw new StorageFault('request.invalid', {
      publicMessage: `projectId ${detail}`,
      errors: [{ pointer: '/projectId', detail }],
    });
  }
}
