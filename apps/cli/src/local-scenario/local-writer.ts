/** User of volumes on the local stack: writes blocks over NBD, and remembers those that were acknowledged. */
import { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import type { Volume } from '../types.js';

const BLOCK_BYTES = 4096;
const TIMEOUT_MS = 10_000;

export class LocalWriter {
  private readonly acknowledged = new Map<string, number[]>();
  private next = 1;

  async write(volume: Volume): Promise<void> {
    const number = this.next;
    this.next += 1;
    const client = await connect(volume);
    if (client === undefined) return;
    try {
      await client.write(number * BLOCK_BYTES, [contents(number)], BLOCK_BYTES, { fua: true });
      this.acknowledged.set(volume.id, [...(this.acknowledged.get(volume.id) ?? []), number]);
    } catch {
      // The write may be there or not: a user who got no answer counts on nothing.
    } finally {
      client.close();
    }
  }

  /** Acknowledged writes that the volume does not hold; 0 while it can't be read. */
  async missing(volume: Volume): Promise<number> {
    const numbers = this.acknowledged.get(volume.id) ?? [];
    const client = numbers.length === 0 ? undefined : await connect(volume);
    if (client === undefined) return 0;
    try {
      let missing = 0;
      for (const number of numbers) {
        const found = Buffer.concat(await client.read(number * BLOCK_BYTES, BLOCK_BYTES));
        if (!found.equals(contents(number))) missing += 1;
      }
      return missing;
    } catch {
      return 0;
    } finally {
      client.close();
    }
  }

  /** After a revert earlier acknowledged writes may be gone, because a user wanted that. */
  forget(volumeId: string): void {
    this.acknowledged.delete(volumeId);
  }
}

function contents(number: number): Buffer {
  return Buffer.alloc(BLOCK_BYTES, `write ${number}. `);
}

async function connect({ endpoint }: Volume): Promise<NbdClient | undefined> {
  const address = endpoint?.nbdUri ?? null;
  if (address === null) return undefined;
  const { hostname, port, pathname } = new URL(address);
  const exportName = decodeURIComponent(pathname.slice(1));
  return NbdClient.connect({ host: hostname, port: Number(port), exportName }, TIMEOUT_MS).catch(
    () => undefined,
  );
}
