/** Identity of the agent's node in the state folder: key, certificate, and the authorities that it trusts. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';
import { z } from 'zod';

const storedSchema = z.object({
  nodeId: z.string(),
  clusterId: z.string(),
  keyPem: z.string(),
  certificatePem: z.string(),
  authorities: z.array(z.string()),
  /** Time of this machine when the certificate arrived, in milliseconds. */
  receivedAtMs: z.number(),
  /** Life that the certificate had left then, in milliseconds. */
  lifeMs: z.number(),
});

export type StoredIdentity = z.infer<typeof storedSchema>;

/** Reads and replaces the identity. Each file is replaced at once and readable by its owner only. */
export class IdentityFolder {
  private constructor(private readonly folder: string) {}

  static async open(stateDirectory: string): Promise<IdentityFolder> {
    const folder = path.join(stateDirectory, 'identity');
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    return new IdentityFolder(folder);
  }

  /** @returns `undefined` where the agent has not joined yet, or the file is none of ours */
  async read(): Promise<StoredIdentity | undefined> {
    const text = await fs.readFile(this.file, 'utf8').catch(() => '');
    try {
      return storedSchema.parse(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  async write(identity: StoredIdentity): Promise<void> {
    await writeDurably(this.file, `${JSON.stringify(identity, null, 2)}\n`);
    await fs.rm(this.nextKeyFile, { force: true });
  }

  /**
   * The key to join with. It is kept from before the first try: the control plane may have taken it, and used up the token,
   * though its answer was lost.
   */
  async nextKey(make: () => string): Promise<string> {
    const kept = await fs.readFile(this.nextKeyFile, 'utf8').catch(() => '');
    if (kept.includes('PRIVATE KEY')) return kept;
    const key = make();
    await writeDurably(this.nextKeyFile, key);
    return key;
  }

  private get file(): string {
    return path.join(this.folder, 'identity.json');
  }

  private get nextKeyFile(): string {
    return path.join(this.folder, 'next-key.pem');
  }
}
