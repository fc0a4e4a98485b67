/**
 * The event streams of this process: how many one token may hold open, and their end when the token ends or its roles change. A
 * stream outlives the request that it was let in with by hours.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { TokenId } from '@holdfast/core/model/ids.js';
import { findLiveRoles } from '@holdfast/database/queries/tokens.js';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { rolesOf, type UserActor, type UserRoles } from '../auth/actor.js';
import { Databases } from '../platform/databases.js';
import { LOGGER } from '../platform/tokens.js';

/** A browser has a tab for each, a program one; more are left open by mistake. */
const STREAMS_OF_TOKEN_MAX = 32;
/** About 50 kB each with their connection. */
const STREAMS_MAX = 4_000;
/** A revoked token is out within this, by one query for all streams. */
const CHECK_INTERVAL_MS = 3_000;

type Closable = { close(): void };
/** A stream, and the roles that it was let in with. */
type Opened = { readonly stream: Closable; readonly roles: string };

@Injectable()
export class OpenStreams implements OnApplicationShutdown {
  private readonly byToken = new Map<TokenId, Map<Closable, Opened>>();
  private count = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly databases: Databases,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.timer = setInterval(() => void this.endRevoked(), CHECK_INTERVAL_MS);
    this.timer.unref();
  }

  /** @throws StorageFault `request.rate_limited` when the token, or this process, has as many open as it may */
  assertRoom(tokenId: TokenId): void {
    const ofToken = this.byToken.get(tokenId)?.size ?? 0;
    if (ofToken < STREAMS_OF_TOKEN_MAX && this.count < STREAMS_MAX) return;
    const publicMessage =
      ofToken < STREAMS_OF_TOKEN_MAX
        ? 'this server has as many event streams open as it may'
        : `a token may have ${STREAMS_OF_TOKEN_MAX} event streams open`;
    throw new StorageFault('request.rate_limited', {
      publicMessage,
      cures: ['close a stream that is not read any more'],
      retryAfterSeconds: 5,
    });
  }

  add({ tokenId, ...roles }: Pick<UserActor, 'tokenId' | 'role' | 'projectRoles'>, stream: Closable): void {
    const streams = this.byToken.get(tokenId) ?? new Map<Closable, Opened>();
    this.byToken.set(tokenId, streams.set(stream, { stream, roles: textOf(roles) }));
    this.count += 1;
  }

  remove(tokenId: TokenId, stream: Closable): void {
    const streams = this.byToken.get(tokenId);
    if (streams?.delete(stream) !== true) return;
    this.count -= 1;
    if (streams.size === 0) this.byToken.delete(tokenId);
  }

  /** Ends all streams: clients keep them open, and a stopping server waits for its connections. */
  closeAll(): void {
    for (const streams of this.byToken.values()) for (const stream of [...streams.keys()]) stream.close();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async endRevoked(): Promise<void> {
    const tokenIds = [...this.byToken.keys()];
    if (tokenIds.length === 0) return;
    try {
      const live = await findLiveRoles(this.databases.signIn, tokenIds);
      for (const tokenId of tokenIds) {
        const found = live.get(tokenId);
        const roles = found === undefined ? undefined : rolesOf(found);
        const now = roles === undefined ? undefined : textOf(roles);
        for (const { stream, roles: before } of [...(this.byToken.get(tokenId)?.values() ?? [])]) {
          // Its client opens another one, which sees what the roles of now show.
          if (now !== before) stream.close();
        }
      }
    } catch (error) {
      // The database is away: nothing new is sent meanwhile either.
      this.log.debug({ err: error }, 'the tokens of open streams could not be checked');
    }
  }
}

/** The same text for the same roles. */
function textOf({ role, projectRoles }: UserRoles): string {
  return [
    role,
    ...[...projectRoles].map(([projectId, ofProject]) => `${projectId} ${ofProject}`).sort(),
  ].join();
}
