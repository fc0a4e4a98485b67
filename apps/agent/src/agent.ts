/**
 * The agent: one storage node's daemon. It owns the node's disks, keeps engines and copies in host processes, answers
 * the control plane's calls and sends it heartbeats. It stores no truth of its own: after a crash the disks say which
 * copies there are, and the control plane starts engines again.
 */
import crypto from 'node:crypto';
import {
  AGENT_PROTOCOL_VERSION,
  type Heartbeat,
  type HeartbeatReply,
} from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import { isLoopback } from '@holdfast/identity/names.js';
import { type SharedPorts, sharedPorts } from '@holdfast/identity/shared-port.js';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AgentConfig } from './config.js';
import { DiskSet } from './disks/disks.js';
import { KnownDisks } from './disks/known-disks.js';
import { Stamps } from './disks/stamps.js';
import { Engines } from './engines.js';
import { HeartbeatLoop } from './heartbeat.js';
import { HostPool } from './hosts/host-pool.js';
import type {
  AgentMethods,
  EngineHostMethods,
  NoMethods,
  ReplicaHostMethods,
} from './hosts/host-protocol.js';
import type { IpcPeer } from './hosts/ipc-peer.js';
import { createControlServer } from './http/control-server.js';
import { faultOf } from './http-replica-control.js';
import { ControlPlane } from './identity/control-plane.js';
import { AgentMetrics } from './metrics/agent-metrics.js';
import { NbdGateway } from './nbd-gateway.js';
import { Replicas } from './replicas.js';
import { controlSecret } from './secrets.js';
import type { TlsTunnels } from './tls-tunnels.js';

const VERSION = '0.1.0';
/**
 * Limit of one call that confirms a copy record at the API. Short, so that a stop is not held up; the engine asks
 * again.
 */
const CONFIRM_TIMEOUT_MS = 5_000;

export class Agent {
  private readonly bootId = crypto.randomUUID();
  private readonly replicaHosts: HostPool<ReplicaHostMethods, AgentMethods>;
  private readonly engineHosts: HostPool<EngineHostMethods, AgentMethods>;
  private readonly replicas: Replicas;
  private readonly engines: Engines;
  private readonly gateway: NbdGateway;
  private readonly server: FastifyInstance;
  private readonly heartbeat: HeartbeatLoop;
  private readonly metrics = new AgentMetrics();
  private ready = false;

  private constructor(
    private readonly config: AgentConfig,
    private readonly secret: string,
    private readonly ways: { controlPlane: ControlPlane; ports: SharedPorts; stamps: Stamps },
    private readonly disks: DiskSet,
    private readonly tunnels: TlsTunnels | undefined,
    log: Logger,
  ) {
    this.replicaHosts = new HostPool({
      entry: './replica-host.js',
      residentsMax: config.hostVolumesMax,
      prepare: (peer) => this.serveEngineHost(peer),
      lost: ({ residents, guests }, reason) => {
        log.error({ reason, replicas: [...residents], volumes: [...guests] }, 'a replica host died');
        this.replicas.hostLost(residents);
        this.engines.hostLost(guests, reason);
      },
    });
    this.engineHosts = new HostPool({
      entry: './engine-host.js',
      residentsMax: config.hostVolumesMax,
      prepare: (peer) => this.serveEngineHost(peer),
      lost: ({ residents }, reason) => {
        log.error({ reason, volumes: [...residents] }, 'an engine host died');
        this.engines.hostLost(residents, reason);
      },
    });
    this.replicas = new Replicas(disks.list, this.replicaHosts, log, undefined, (disk) =>
      ways.stamps.engage(disk),
    );
    this.engines = new Engines({
      pool: this.engineHosts,
      replicaPool: this.replicaHosts,
      hostOfCopy: (replicaIds) => this.replicas.hostOfAny(replicaIds),
      endpoint: { host: config.advertiseHost, port: config.nbdPort, tls: config.nbdTls.mode === 'require' },
      changed: () => this.heartbeat.soon(),
    });
    this.gateway = new NbdGateway({
      engines: this.engines,
      replicas: this.replicas,
      usersTls: config.nbdTls.mode,
      tunnels,
      ownNodeId: () => ways.controlPlane.nodeId,
    });
    this.server = createControlServer({
      replicas: this.replicas,
      engines: this.engines,
      controlSecret: secret,
      ports: ways.ports,
      isTlsOnly: !isLoopback(config.advertiseHost),
      ownCluster: () => ways.controlPlane.clusterId,
      isReady: () => this.ready,
      log,
    });
    this.metrics.serve(this.server, config.metricsToken);
    this.heartbeat = new HeartbeatLoop({
      report: (beat, timeoutMs) => ways.controlPlane.report(beat, timeoutMs),
      repeat: (repeat, timeoutMs) => ways.controlPlane.repeat(repeat, timeoutMs),
      collect: async () => {
        const heartbeat = await this.collect();
        this.metrics.noteHeartbeat(heartbeat);
        return heartbeat;
      },
      heard: ({ disks, stamps }) => {
        ways.stamps.confirm(stamps);
        return this.changeDisks(disks);
      },
      log,
    });
  }

  static async start(config: AgentConfig, tunnels: TlsTunnels | undefined, log: Logger): Promise<Agent> {
    const secret = await controlSecret(config.stateDirectory);
    const known = await KnownDisks.load(config.stateDirectory);
    const { disks: entries, diskRoots: roots, diskBytes: defaultBytes } = config;
    const hurry: { soon?: () => void } = {};
    const stamps = new Stamps({ soon: () => hurry.soon?.() });
    const disks = await DiskSet.take({ entries, roots, defaultBytes, known, stamps });
    const ports = sharedPorts();
    const controlPlane = await ControlPlane.open(config, secret, ports, log);
    const agent = new Agent(config, secret, { controlPlane, ports, stamps }, disks, tunnels, log);
    hurry.soon = () => agent.heartbeat.soon();
    await agent.replicas.scan();
    await agent.gateway.listen(config.bindHost, config.nbdPort);
    await agent.server.listen({ host: config.bindHost, port: config.controlPort });
    agent.ready = true;
    agent.heartbeat.start();
    return agent;
  }

  /** Stops the agent: engines first, so that they flush and mark their copies clean while replica hosts still run. */
  async stop(): Promise<void> {
    this.ready = false;
    await this.engines.stopAll();
    // Neither is awaited: a heartbeat may take as long as its timeout, and the port closes with its last connection.
    void this.heartbeat.stop();
    void this.gateway.close();
    await this.replicas.close();
    await Promise.all([this.engineHosts.stop(), this.replicaHosts.stop(), this.tunnels?.stop()]);
    await this.ways.stamps.seal();
    await this.server.close();
  }

  /** Answers what the engines of a host ask of the agent. */
  private serveEngineHost(peer: Pick<IpcPeer<NoMethods, AgentMethods>, 'handle'>): void {
    peer.handle('confirm-record', (params) => this.confirmRecord(params));
    peer.handle('engine-changed', async ({ report }) => {
      this.engines.noteReport(report);
      return null;
    });
  }

  private async confirmRecord({
    volumeId,
    record,
    grantId,
  }: AgentMethods['confirm-record']['params']): Promise<null> {
    const { status, body } = await this.ways.controlPlane.call(
      `agent/volumes/${volumeId}/record`,
      { record, grantId },
      CONFIRM_TIMEOUT_MS,
    );
    if (status === 200 || status === 201 || status === 204) return null;
    const fault = faultOf(status, body);
    if (status === 409 && fault instanceof StorageFault && fault.code === 'engine.stale_epoch') throw fault;
    throw new StorageFault('agent.unreachable', {
      publicMessage: `the control plane answered ${status}`,
      cause: fault,
    });
  }

  /** Disks that users requested or removed. A change is reported at once, because the control plane waits for it. */
  private async changeDisks(wishes: HeartbeatReply['disks'] = { add: [], remove: [] }): Promise<void> {
    const { nodeId } = this.ways.controlPlane;
    const hasChanged = await this.disks.apply(
      wishes,
      (disk) => this.replicas.isNoneOn(disk),
      nodeId === undefined ? undefined : asId<NodeId>(nodeId),
    );
    if (hasChanged) this.heartbeat.soon();
  }

  private async collect(): Promise<Heartbeat> {
    const { config } = this;
    const nowMs = performance.now();
    // Each part has its own time limit, so that a disk or host that hangs delays no other part of the heartbeat.
    const [disks, replicas] = await Promise.all([
      this.disks.reports(nowMs),
      this.replicas.reports(this.ways.controlPlane.nodeId),
      this.engines.refresh(),
    ]);
    return {
      node: {
        name: config.nodeName,
        zone: config.zone,
        region: config.region,
        bootId: this.bootId,
        controlUrl: `http://${bracketed(config.advertiseHost)}:${config.controlPort}`,
        controlSecret: this.secret,
        nbdHost: config.advertiseHost,
        nbdPort: config.nbdPort,
        pid: process.pid,
        version: VERSION,
        protocol: AGENT_PROTOCOL_VERSION,
      },
      disks: disks.map((disk) => ({ ...disk, copiesListed: this.replicas.areListed(disk.diskId) })),
      replicas,
      engines: this.engines.reports(),
    };
  }
}

/** The host as a URL has it: IPv6 addresses in brackets. */
function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
