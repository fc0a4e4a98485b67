/**
 * The agents' part of the API. Agents are not users: their token belongs to one cluster, and the work runs as the system
 * role, because a cluster's space and limits concern all of its users.
 */
import { snapshot } from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { Body, Controller, Inject, Param, Post } from '@nestjs/common';
import type { AgentActor } from '../auth/actor.js';
import type { Config } from '../config.js';
import { Databases } from '../platform/databases.js';
import { CurrentAgent } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { CONFIG } from '../platform/tokens.js';
import { volumeNotFound } from '../volumes/read-volume.js';
import {
  AgentVolumePath,
  ConfirmRecordBody,
  HeartbeatBody,
  HeartbeatReplyDto,
  RecordConfirmedDto,
} from './agent.schemas.js';

@Controller('api/v1/agent')
export class AgentController {
  private readonly store: PostgresStore;

  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.store = new PostgresStore(databases.system());
  }

  @Post('heartbeat')
  @Route({
    access: 'agent',
    summary: 'Report what a node is and holds',
    answer: HeartbeatReplyDto,
    refuses: ['cluster.not_found', 'node.name_taken'],
  })
  async heartbeat(@CurrentAgent() agent: AgentActor, @Body() heartbeat: HeartbeatBody) {
    const stored = await this.store.recordHeartbeat(agent.clusterId, heartbeat);
    return { ...stored, intervalMs: this.config.heartbeatIntervalMs };
  }

  @Post('volumes/:volumeId/record')
  @Route({
    access: 'agent',
    summary: "Record a volume's smaller members",
    answer: RecordConfirmedDto,
    refuses: ['volume.not_found', 'engine.stale_epoch'],
  })
  async confirmRecord(
    @CurrentAgent() agent: AgentActor,
    @Param() { volumeId }: AgentVolumePath,
    @Body() { record, grantId }: ConfirmRecordBody,
  ) {
    // The system role sees every cluster; the agent speaks for its own only.
    const { rowCount } = await snapshot(this.databases.system(), (sql) =>
      sql.query('SELECT FROM volume WHERE id = $1 AND cluster_id = $2', [volumeId, agent.clusterId]),
    );
    if (rowCount === 0) throw volumeNotFound(volumeId);
    await this.store.confirmRecord(volumeId, record, grantId);
    return { recorded: true };
  }
}
