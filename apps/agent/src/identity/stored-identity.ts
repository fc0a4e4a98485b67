/** Identity of the agent's node in the state folder: key, certificate, and the authorities that it trusts. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';
import { openJson, sealJson } from '@holdfast/data-engine/disk/sealed-json.js';
import { z } from 'zod';
import { stateDamaged, textOf } from '../state-files.js';

/** Files of format 2 have a checksum; earlier ones name no format. */
const FORMAT = 2;
const DAMAGE_CURE = 'remove the file, and start the agent with a join token for this node';

const storedSchema = z.object({
  format: z.literal(FORMAT).optional(),
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

export type StoredIdentity = Omit<z.infer<typeof storedSchema>, 'format'>;

/** Reads and replaces the identity. Each file is replaced at once and readable by its owner only. */
export class IdentityFolder {
  private constructor(private readonly folder: string) {}

  static async open(stateDirectory: string): Promise<IdentityFolder> {
    const folder = path.join(stateDirectory, 'identity');
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    return new IdentityFolder(folder);
  }

  /**
   * @returns `undefined` where the agent has not joined yet
   * @throws StorageFault `agent.state_damaged`: a node that has joined must not join again as if it were new
   */
  async read(): Promise<StoredIdentity | undefined> {
    const text = await textOf(this.file);
    if (text === undefined) return undefined;
    const { data, error } = storedSchema.safeParse(openJson(text, FORMAT));
    if (data === undefined) throw stateDamaged(this.file, DAMAGE_CURE, error);
    const { format: _, ...identity } = data;
    return identity;
  }

  async write(identity: StoredIdentity): Promise<void> {
    await writeDurably(this.file, sealJson({ format: FORMAT, ...identity }));
    await fs.rm(this.nextKeyFile, { force: true });
  }

  /**
   * The key to join with. It is kept from before the first try: the control plane may have taken it, and used up the token,
   * though its answer was lost.
   */
  async nextKey(make: () => string): Promise<string> {
    const kept = await textOf(this.nextKeyFile);
    if (kept !== undefined) return keyIn(kept, this.nextKeyFile);
    const keyPem = make();
    await writeDurably(this.nextKeyFile, sealJson({ format: FORMAT, keyPem }));
    return keyPem;
  }

  private get file(): string {
    return path.join(this.folder, 'identity.json');
  }

  private get nextKeyFile(): string {
    return path.join(this.folder, 'next-key.pem');
  }
}

/** Earlier versions kept the key as it is. @throws StorageFault `agent.state_damaged` */
function keyIn(text: string, file: string): string {
  if (isWholeKey(text)) return text;
  const keyPem = openJson(text, FORMAT)?.keyPem;
  if (typeof keyPem === 'string') return keyPem;
  throw stateDamaged(file, DAMAGE_CURE);
}

function isWholeKey(text: string): boolean {
  return text.startsWith('-----BEGIN') && text.trimEnd().endsWith('PRIVATE KEY-----');
}
