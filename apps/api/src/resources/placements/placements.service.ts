import { loadDrainPlan } from '@holdfast/control/use-cases/plan-node-drain.js';
import { loadWhatIf } from '@holdfast/control/use-cases/what-if.js';
import type { DrainPlan, planDrain } from '@holdfast/core/drain/plan-drain.js';
import type { answerWhatIf } from '@holdfast/core/forecast/answer-what-if.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import { ThreadPool } from '../threads/thread-pool.js';
import { type SimulateBody, simulationRequest, simulationView } from './simulation.schemas.js';

declare module '../threads/thread-pool.js' {
  interface Jobs {
    answerWhatIf: typeof answerWhatIf;
    planDrain: typeof planDrain;
  }
}

/** What-ifs. They read one consistent state of the cluster, compute the answer in a thread, and write nothing. */
@Injectable()
export class PlacementsService {
  constructor(private readonly threads: ThreadPool) {}

  /** Row-level security hides others' volumes: only their bookings matter, and these are in the disks' figures. */
  async simulate(tenant: Tenant, clusterId: ClusterId, body: SimulateBody) {
    const request = simulationRequest(body);
    const view = await loadWhatIf(tenant.ports, clusterId, request);
    return simulationView(await this.threads.run('answerWhatIf', [request, view, tenant.now], tenant));
  }

  async planDrain(
    tenant: Tenant,
    key: { clusterId: ClusterId; nodeId: NodeId; policy?: string | undefined },
  ): Promise<DrainPlan> {
    const { node, policy, view } = await loadDrainPlan(tenant.ports, key);
    return this.threads.run('planDrain', [node, policy, view, tenant.now], tenant);
  }
}
