/**
 * The event streams of this process: how many one token and one organization may hold open, and their end when the token ends, its secret
 * is replaced or its roles change. A stream outlives the authentication of its request by hours.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId, TokenId } from '@holdfast/core/model/ids.js';
import { findLiveRoles } from '@holdfast/database/queries/tokens.js';
import { Inject, Injectable, type OnApplicationShutdown, Optional } from '@nestjs/common';
import type { Logger } from 'pino';
import { rolesOf, type UserRoles } from '../../access/actor.js';
import { Databases } from '../../http/databases.js';
import { LOGGER } from '../../http/tokens.js';

/**
 * Of a token: a browser has a tab for each, a program one; more are left open by mistake. Of the process: about 50 kB each
 * with their connection.
 */
const LIMITS = { ofToken: 32, ofProcess: 4_000 };
/** Maximum delay until a revoked token's streams end, by one query for all streams. */
const CHECK_INTERVAL_MS = 3_000;

type Closable = { close(): void };
/** A stream, with the secret and the roles at its authentication. */
type Opened = { readonly stream: Closable; readonly secretHash: string; readonly roles: string };
/** The token that streams are opened with, and its organization. */
export type StreamOwner = { readonly tokenId: TokenId; readonly organizationId: OrganizationId };
type Admitted = StreamOwner & UserRoles & { readonly secretHash: string };

@Injectable()
export class OpenStreams implements OnApplicationShutdown {
  private readonly byToken = new Map<TokenId, Map<Closable, Opened>>();
  private readonly countOf = new Map<OrganizationId, number>();
  private count = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly databases: Databases,
    @Inject(LOGGER) private readonly log: Logger,
    @Optional() private readonly limits: typeof LIMITS = LIMITS,
  ) {
    this.timer = setInterval(() => void this.endRevoked(), CHECK_INTERVAL_MS);
    this.timer.unref();
  }

  get openCount(): number {
    return this.count;
  }

  /**
   * An organization may open another stream while it has fewer than remain free for all: as many as it opens stay free for the next
   * organization, and half of those for the one after it.
   *
   * @throws StorageFault `request.rate_limited` when the token, the organization or this process has reached its limit
   */
  assertRoom({ tokenId, organizationId }: StreamOwner): void {
    const { ofToken, ofProcess } = this.limits;
    const left = ofProcess - this.count;
    if ((this.byToken.get(tokenId)?.size ?? 0) >= ofToken) {
      throw limited(`a token may have ${ofToken} event streams open`);
    }
    if (left <= 0) throw limited('this server has as many event streams open as it may');
    const ofOrganization = this.countOf.get(organizationId) ?? 0;
    if (ofOrganization >= left) {
      throw limited(
        `the organization has ${ofOrganization} event streams open here; the rest are for others`,
      );
    }
  }

  add({ tokenId, organizationId, secretHash, ...roles }: Admitted, stream: Closable): void {
    const streams = this.byToken.get(tokenId) ?? new Map<Closable, Opened>();
    this.byToken.set(tokenId, streams.set(stream, { stream, secretHash, roles: textOf(roles) }));
    this.countOf.set(organizationId, (this.countOf.get(organizationId) ?? 0) + 1);
    this.count += 1;
  }

  remove({ tokenId, organizationId }: StreamOwner, stream: Closable): void {
    const streams = this.byToken.get(tokenId);
    if (streams?.delete(stream) !== true) return;
    if (streams.size === 0) this.byToken.delete(tokenId);
    const left = (this.countOf.get(organizationId) ?? 1) - 1;
    if (left === 0) this.countOf.delete(organizationId);
    else this.countOf.set(organizationId, left);
    this.count -= 1;
  }

  /** Ends all streams: clients keep them open, and a stopping server waits for its connections. */
  closeAll(): void {
    for (const streams of this.byToken.values()) for (const stream of [...streams.keys()]) stream.close();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async endRevoked(): Promise<void> {
    const opened = [...this.byToken.values()].flatMap((streams) => [...streams.values()]);
    if (opened.length === 0) return;
    const secretHashes = [...new Set(opened.map(({ secretHash }) => secretHash))];
    try {
      const live = await findLiveRoles(this.databases.signIn, secretHashes);
      const rolesNow = new Map([...live].map(([secretHash, found]) => [secretHash, rolesOf(found)]));
      for (const { stream, secretHash, roles: before } of opened) {
        const now = rolesNow.get(secretHash);
        // The client reconnects, and then sees what its present roles allow.
        if (now === undefined || textOf(now) !== before) stream.close();
      }
    } catch (error) {
      // The database is unreachable: nothing new is sent meanwhile either.
      this.log.debug({ err: error }, 'the tokens of open streams could not be checked');
    }
  }
}

function limited(publicMessage: string): StorageFault {
  return new StorageFault('request.rate_limited', {
    publicMessage,
    cures: ['close a stream that is not read any more'],
    retryAfterSeconds: 5,
  });
}

/** Canonical text of roles, for comparison. */
function textOf({ role, projectRoles }: UserRoles): string {
  return [
    role,
    ...[...projectRoles].map(([projectId, ofProject]) => `${projectId} ${ofProject}`).sort(),
  ].join();
}
