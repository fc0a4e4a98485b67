/**
 * Identity of the agent's node, as its host processes read it: from the state folder, where the agent renews it. Read at
 * most once a second, so that a renewed certificate is in use soon and connections do not wait for a disk.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { IdentityFolder, type StoredIdentity } from './stored-identity.js';

/** How late a renewed certificate is shown at most: it is renewed when half of its life is left. */
const READ_AGAIN_MS = 1_000;

export class OwnIdentity {
  private known: StoredIdentity | undefined;
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly stateDirectory: string) {}

  /**
   * @returns the same value until the identity changes
   * @throws StorageFault `agent.unreachable` while this node has no certificate; `agent.state_damaged`
   */
  async current(): Promise<StoredIdentity> {
    const nowMs = performance.now();
    if (this.known !== undefined && nowMs < this.readAtMs + READ_AGAIN_MS) return this.known;
    const identity = await this.read();
    if (identity !== undefined && !isSame(identity, this.known)) this.known = identity;
    this.readAtMs = nowMs;
    if (this.known !== undefined) return this.known;
    throw new StorageFault('agent.unreachable', {
      publicMessage: 'this node has no certificate yet, without which other nodes do not hear it',
    });
  }

  /** A file that can't be read now does not invalidate what was read before. */
  private async read(): Promise<StoredIdentity | undefined> {
    try {
      return await (await IdentityFolder.open(this.stateDirectory)).read();
    } catch (error) {
      if (this.known === undefined) throw error;
      return this.known;
    }
  }
}

function isSame(a: StoredIdentity, b: StoredIdentity | undefined): boolean {
  return a.certificatePem === b?.certificatePem && a.authorities.join() === b.authorities.join();
}
