import { randomUUID } from 'node:crypto';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId, type OrganizationId } from '@holdfast/core/model/ids.js';
import { hashSecret } from '@holdfast/database/credentials.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { aDiskReport, aHeartbeat } from '@holdfast/testkit/builders.js';
import {
  seedSuite,
  seeOrganizations,
  suiteUrl,
  type TestDatabase,
  type TestSeed,
} from '@holdfast/testkit/test-database.js';
import pg from 'pg';
import { type ApiAccess, type ApiRequest, type ApiResponse, accessByHttp } from './api-access.js';
import { assertDeclared } from './documented-operations.js';
import { sharedApi } from './shared-api.js';
import { type Answer, type JoinOptions, type Json, TestAgent } from './test-agent.js';

export type { Answer, Json } from './test-agent.js';
export type CallOptions = {
  token?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
  payload?: string | Buffer;
};

/** An API with an organization of the suite's own: the first rows of a local stack, and calls as its admin. */
export class ApiFixture {
  private readonly system: Pool;
  private readonly organizations: string[];

  protected constructor(
    readonly database: Pick<TestDatabase, 'ownerUrl' | 'apiUrl' | 'systemUrl'>,
    private readonly access: ApiAccess,
    readonly seed: TestSeed,
    /** Of the suite's own database the owner; of one that suites share their role, which sees the suite's organizations. */
    readonly owner: pg.Client,
    /** Where calls come from, as the API sees it. */
    readonly address: string | undefined,
  ) {
    this.organizations = [seed.organizationId];
    this.system = createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'test' });
  }

  /** On the API process and the database that the suites of this worker share. */
  static async start(): Promise<ApiFixture> {
    const { port, ...database } = await sharedApi();
    const seed = await seedSuite(database);
    const owner = new pg.Client({ connectionString: suiteUrl(database.ownerUrl) });
    await owner.connect();
    await seeOrganizations(owner, [seed.organizationId]);
    return new ApiFixture(database, accessByHttp(port), seed, owner, addressOf(seed));
  }

  /** Port of the API, which listens then. */
  listen(): Promise<number> {
    return this.access.port();
  }

  async stop(): Promise<void> {
    await this.system.end();
    await this.owner.end();
  }

  /** Sends a request as it is given. */
  send(request: ApiRequest): Promise<ApiResponse> {
    const forwarded = this.address === undefined ? {} : { 'x-forwarded-for': this.address };
    return this.access.send({ ...request, headers: { ...forwarded, ...request.headers } });
  }

  /**
   * Calls a path under /api/v1 with the admin's token, another one, or (null) none.
   *
   * @throws Error when it is refused with a code that the OpenAPI document does not name for the operation
   */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const token = options.token === undefined ? this.seed.token : options.token;
    const {
      statusCode: status,
      headers,
      body: text,
    } = await this.send({
      method,
      url: `/api/v1${path}`,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(options.payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      payload: options.payload ?? options.body,
    });
    // An export is lines of JSON, or none at all.
    const isJson =
      /json;?/.test(String(headers['content-type'])) && !/ndjson/.test(String(headers['content-type']));
    const body = text === '' || !isJson ? {} : JSON.parse(text);
    assertDeclared({ method, url: `/api/v1${path}` }, { status, body });
    return { status, headers, body };
  }

  get volumes(): string {
    return `/clusters/${this.seed.clusterId}/volumes`;
  }

  async createVolume(body: Json = {}): Promise<Json> {
    const answer = await this.call('POST', this.volumes, {
      body: { name: `v-${randomUUID().slice(0, 8)}`, size: GIB, ...body },
    });
    if (answer.status !== 201) throw new Error(`not created: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** A volume as the worker would leave it, once its engine runs. */
  async createAttachedVolume(nodeId: string): Promise<Json> {
    const volume = await this.createVolume();
    await this.owner.query(
      `UPDATE volume SET state = 'attached', attached_node_id = $2, epoch = 1, attachment = $3, endpoint = $4 WHERE id = $1`,
      [
        volume.id,
        nodeId,
        JSON.stringify({ nodeId, requestedAt: new Date() }),
        JSON.stringify({ host: '127.0.0.1', port: 7420, exportName: `${volume.id}/secret` }),
      ],
    );
    return volume;
  }

  /** Sends one GraphQL request about the seeded cluster. */
  async graphql(query: string, variables: object = {}, token: string = this.seed.token) {
    const {
      statusCode: status,
      headers,
      body,
    } = await this.send({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${token}` },
      payload: { query, variables: { clusterId: this.seed.clusterId, ...variables } },
    });
    return { status, headers, body: JSON.parse(body) };
  }

  /** The store as a worker has it. */
  get store(): PostgresStore {
    return new PostgresStore(systemScope(this.system));
  }

  /** Stores what an agent reports. How it gets there is tested in agents.test.ts. Returns the node's id. */
  async beat(heartbeat: Heartbeat): Promise<NodeId> {
    return (await this.store.recordHeartbeat(this.seed.clusterId, heartbeat)).nodeId;
  }

  /** An agent that has joined under the name. */
  async agent(name: string, options: JoinOptions = {}): Promise<TestAgent> {
    const agent = new TestAgent(this, name);
    const { status, body } = await agent.join(options);
    if (status !== 200) throw new Error(`not joined: ${JSON.stringify(body)}`);
    return agent;
  }

  /** Registers a node with one disk, as its agent does, and has it Ready. Returns its id. */
  async node(name: string, zone: string): Promise<string> {
    const nodeId = await this.beat(
      aHeartbeat(name, { node: { zone }, disks: [aDiskReport(asId<DiskId>(randomUUID()))] }),
    );
    const ready = [{ type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: new Date() }];
    // There is no worker here that would judge the heartbeat.
    await this.owner.query('UPDATE node SET conditions = $2 WHERE id = $1', [nodeId, JSON.stringify(ready)]);
    return nodeId;
  }

  /** Another organization with a member of each role, a project, a cluster with a node and a disk, and tokens. */
  async otherTenant(): Promise<{ organizationId: OrganizationId; clusterId: string; token: string }> {
    const organizationId = randomUUID();
    const userId = randomUUID();
    const clusterId = randomUUID();
    const token = `hft_${randomUUID()}`;
    this.organizations.push(organizationId);
    await seeOrganizations(this.owner, this.organizations);
    await this.owner.query('INSERT INTO organization (id, name, created_at) VALUES ($1, $2, now())', [
      organizationId,
      `org-${organizationId}`,
    ]);
    await this.owner.query(
      `INSERT INTO app_user (id, email, name, created_at) VALUES ($1, $2, 'Other', now())`,
      [userId, `${userId}@example.test`],
    );
    await this.member(organizationId, userId, 'owner', token);
    await this.owner.query(
      `INSERT INTO project (id, organization_id, name, created_at) VALUES ($1, $2, 'p', now())`,
      [randomUUID(), organizationId],
    );
    await this.owner.query(
      `INSERT INTO cluster (id, organization_id, name, created_at) VALUES ($1, $2, 'c', now())`,
      [clusterId, organizationId],
    );
    return { organizationId: asId(organizationId), clusterId, token };
  }

  /** A token of the given role in the admin's organization. */
  async tokenOfRole(role: string): Promise<string> {
    const userId = randomUUID();
    const token = `hft_${randomUUID()}`;
    await this.owner.query(
      `INSERT INTO app_user (id, email, name, created_at) VALUES ($1, $2, 'Member', now())`,
      [userId, `${userId}@example.test`],
    );
    await this.member(this.seed.organizationId, userId, role, token);
    return token;
  }

  private async member(organizationId: string, userId: string, role: string, token: string): Promise<void> {
    await this.owner.query(
      'INSERT INTO membership (organization_id, user_id, role, created_at) VALUES ($1, $2, $3, now())',
      [organizationId, userId, role],
    );
    await this.owner.query(
      `INSERT INTO token (id, organization_id, kind, name, secret_hash, role, user_id, created_at)
       VALUES ($1, $2, 'api', 'test', $3, 'owner', $4, now())`,
      [randomUUID(), organizationId, hashSecret(token), userId],
    );
  }
}

/** An address for all calls of a suite, so that failed sign-ins of one suite do not slow another: each has an organization of its own. */
function addressOf({ organizationId }: TestSeed): string {
  const [one, two, three] = Buffer.from(organizationId.replaceAll('-', '').slice(-6), 'hex');
  return `10.${one}.${two}.${three}`;
}
