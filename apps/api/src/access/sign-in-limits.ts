/**
 * Limits on guessing passwords: failed sign-ins are counted by account and by address, in Postgres, so that every api process
 * counts the same ones.
 */
import { createHash } from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { translateError } from '@holdfast/database/sql/errors.js';
import type { Pool } from '@holdfast/database/sql/pool.js';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

const WINDOW_SECONDS = 15 * 60;
/** A user who forgot the password tries a few times; at ten tries in a quarter of an hour a guesser needs centuries. */
const ACCOUNT_FAILURES_MAX = 10;
/** Users behind one address share it, so its limit is higher. */
const ADDRESS_FAILURES_MAX = 100;

type Limit = { readonly limiter: RateLimiterPostgres; readonly keyOf: (attempt: Attempt) => string };
type Attempt = { readonly account: string; readonly address: string };

export class SignInLimits {
  private readonly limits: readonly Limit[];

  constructor(pool: Pool) {
    const limiter = (keyPrefix: string, points: number) =>
      new RateLimiterPostgres({
        storeClient: pool,
        storeType: 'pool',
        tableName: 'sign_in_limit',
        tableCreated: true,
        clearExpiredByTimeout: false,
        keyPrefix,
        points,
        duration: WINDOW_SECONDS,
        blockDuration: WINDOW_SECONDS,
      });
    this.limits = [
      { limiter: limiter('account', ACCOUNT_FAILURES_MAX), keyOf: ({ account }) => hashed(account) },
      { limiter: limiter('address', ADDRESS_FAILURES_MAX), keyOf: ({ address }) => address },
    ];
  }

  /**
   * Runs the attempt if none of its limits is reached. It counts as failed before it starts, and is refunded on success, so that concurrent
   * attempts can not bypass the limit.
   *
   * @param onClosed called once each time that a limit is reached, not for each further attempt
   * @throws StorageFault `request.rate_limited`, or what the attempt throws
   */
  async attempt<T>(
    attempt: Attempt,
    check: () => Promise<T>,
    onClosed: () => void = () => undefined,
  ): Promise<T> {
    for (const limit of this.limits) await count(limit, attempt, onClosed);
    const answer = await check();
    const [account, address] = this.limits;
    // A success clears the account's failures, but not the address's: others may share it.
    await account?.limiter.delete(account.keyOf(attempt)).catch(rethrow);
    await address?.limiter.reward(address.keyOf(attempt), 1).catch(rethrow);
    return answer;
  }

  /** As {@link attempt}, but limits by client address only. Limiting by the requested secret would let an attacker lock out its owner. */
  async attemptFrom<T>(address: string, check: () => Promise<T>): Promise<T> {
    const [, ofAddress] = this.limits;
    const attempt = { account: '', address };
    if (ofAddress !== undefined) await count(ofAddress, attempt, () => undefined);
    const answer = await check();
    await ofAddress?.limiter.reward(address, 1).catch(rethrow);
    return answer;
  }
}

async function count({ limiter, keyOf }: Limit, attempt: Attempt, onClosed: () => void): Promise<void> {
  await limiter.consume(keyOf(attempt)).catch((reason: unknown) => {
    if (!(reason instanceof RateLimiterRes)) throw translateError(reason);
    if (reason.consumedPoints === limiter.points + 1) onClosed();
    throw limited(reason);
  });
}

function rethrow(error: unknown): never {
  throw translateError(error);
}

/** Hashed, so that the table does not list users' e-mail addresses. */
function hashed(account: string): string {
  return createHash('sha256').update(account.trim().toLowerCase()).digest('hex');
}

function limited({ msBeforeNext }: RateLimiterRes): StorageFault {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new StorageFault('request.rate_limited', {
    publicMessage: `too many failed sign-ins; try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
  });
}
