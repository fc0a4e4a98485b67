/** The certificate with which this process serves agents, and certificates that it signs for their nodes. */

import { systemClock } from '@holdfast/database/clock-and-random.js';
import { ensureAuthorities, type StoredAuthority } from '@holdfast/database/identity/authorities.js';
import {
  makeControlPlaneCertificate,
  type RequestedKey,
  signNodeCertificate,
} from '@holdfast/identity/authority.js';
import {
  CERTIFICATE_DAYS_MAX,
  signingAuthority,
  trustedAuthorities,
} from '@holdfast/identity/authority-roles.js';
import { fingerprintOf } from '@holdfast/identity/certificate.js';
import type { NodeName } from '@holdfast/identity/names.js';
import type { SharedPorts } from '@holdfast/identity/shared-port.js';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { Databases } from '../../http/databases.js';
import { LOGGER, SHARED_PORTS } from '../../http/tokens.js';

/** Refresh interval of the authorities: another process may have created one. */
const REFRESH_MS = 60_000;
/** Retry interval while Postgres is unreachable. */
const RETRY_MS = 1_000;
const OWN_LIFE_MS = CERTIFICATE_DAYS_MAX * 24 * 3_600_000;

/** Cached authorities and certificate, until the next refresh. */
type Current = {
  signing: StoredAuthority;
  trusted: readonly string[];
  /** Time at which this process's own certificate was made. */
  servedSince: Date;
};

@Injectable()
export class AgentCertificates implements OnApplicationBootstrap, OnApplicationShutdown {
  private current: Current | undefined;
  private refreshing: Promise<Current> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly databases: Databases,
    @Inject(SHARED_PORTS) private readonly ports: SharedPorts,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.refreshRegularly();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.refreshing?.catch(() => undefined);
  }

  /** Certificates of the authorities for agents to trust. */
  async trusted(): Promise<readonly string[]> {
    return (await this.use()).trusted;
  }

  /** Fingerprint of the authority that agents see now. */
  async fingerprint(): Promise<string> {
    return fingerprintOf((await this.use()).signing.certificatePem);
  }

  async sign(
    node: NodeName & { name: string },
    key: RequestedKey,
    life: { now: Date; notAfter: Date },
  ): Promise<string> {
    return signNodeCertificate((await this.use()).signing, node, key, life);
  }

  private async use(): Promise<Current> {
    return this.current ?? this.refresh();
  }

  private refreshRegularly(): void {
    this.refresh()
      .then(
        () => REFRESH_MS,
        (error: unknown) => {
          this.logger.warn({ err: error }, 'the certificate authority can not be read; trying again');
          return this.current === undefined ? RETRY_MS : REFRESH_MS;
        },
      )
      .then((pauseMs) => {
        if (!this.isStopped) this.timer = setTimeout(() => this.refreshRegularly(), pauseMs).unref();
      });
  }

  private refresh(): Promise<Current> {
    this.refreshing ??= this.read().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  private async read(): Promise<Current> {
    const now = systemClock.now();
    const authorities = await ensureAuthorities(this.databases.agents(), now);
    const signing = signingAuthority(authorities, now) ?? authorities[0];
    if (signing === undefined) throw new Error('there is no certificate authority');
    const trusted = trustedAuthorities(authorities, now).map(({ certificatePem }) => certificatePem);
    if (this.current === undefined || this.isOutdated(this.current, signing, trusted, now)) {
      const own = await makeControlPlaneCertificate(signing, {
        now,
        notAfter: new Date(now.getTime() + OWN_LIFE_MS),
      });
      this.ports.setCertificate({ cert: own.certificatePem, key: own.keyPem, ca: [...trusted] });
      this.current = { signing, trusted, servedSince: now };
    }
    return this.current;
  }

  private isOutdated(
    current: Current,
    signing: StoredAuthority,
    trusted: readonly string[],
    now: Date,
  ): boolean {
    const isOld = now.getTime() - current.servedSince.getTime() > OWN_LIFE_MS / 2;
    return (
      isOld ||
      current.signing.certificatePem !== signing.certificatePem ||
      current.trusted.join() !== trusted.join()
    );
  }
}
