/**
 * A backup's file, `backup_<name>.cfg`, read as a stream: the list of blocks of a large volume is tens of megabytes of JSON, of which each entry
 * is parsed alone.
 */
import { z } from 'zod';
import { BLOCKS_MAX, MEMBER_BYTES_MAX, VOLUME_BYTES_MAX } from './bounds.js';
import { damagedFile } from './longhorn-faults.js';

export type LonghornBlock = { readonly offset: number; readonly checksum: string };

const digits = z.union([z.string().regex(/^\d{1,19}$/), z.int().nonnegative()]).transform(Number);

const membersSchema = z.object({
  Name: z.string(),
  VolumeName: z.string(),
  SnapshotName: z.string().default(''),
  SnapshotCreatedAt: z.string().default(''),
  /** Empty while the backup is being made, or where that died. */
  CreatedTime: z.string().default(''),
  Size: digits.default(0),
  Labels: z.record(z.string(), z.string()).nullish(),
  Parameters: z.record(z.string(), z.string()).nullish(),
  IsIncremental: z.boolean().default(false),
  CompressionMethod: z.string().default(''),
  SingleFile: z.object({ FilePath: z.string().default('') }).nullish(),
});

export type BackupFile = z.output<typeof membersSchema> & { readonly blocks: readonly LonghornBlock[] };

const blockSchema = z.object({
  Offset: z.int().nonnegative().max(VOLUME_BYTES_MAX),
  BlockChecksum: z.string().regex(/^[0-9a-f]{64}$/),
});

/**
 * Finds the values of a JSON object's members, and of one member's list the entries, without keeping the text. It knows strings and nesting only:
 * each piece that it cuts is parsed by `JSON.parse`.
 */
class MemberSplitter {
  readonly members = new Map<string, string>();
  private piece = '';
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private key: string | undefined;
  private isWhole = false;

  constructor(
    private readonly listName: string,
    private readonly onEntry: (text: string) => void,
  ) {}

  push(text: string): void {
    for (const char of text) this.take(char);
  }

  /** @throws Error where the object has not ended */
  end(): void {
    if (!this.isWhole) throw new Error('it is cut off');
  }

  private take(char: string): void {
    if (this.isWhole && char.trim() !== '') throw new Error('something stands behind its end');
    if (this.isInString) {
      this.keep(char);
      if (this.isEscaped) this.isEscaped = false;
      else if (char === '\\') this.isEscaped = true;
      else if (char === '"') this.isInString = false;
      return;
    }
    if (char === '"') {
      this.isInString = true;
      this.keep(char);
    } else if (char === '{' || char === '[') this.open(char);
    else if (char === '}' || char === ']') this.close(char);
    else if (char === ':' && this.depth === 1 && this.key === undefined) {
      this.key = String(JSON.parse(this.cut()));
    } else if (char === ',' && this.depth === 1) this.endMember();
    else if (char === ',' && this.depth === 2 && this.key === this.listName) this.endEntry();
    else this.keep(char);
  }

  private open(char: string): void {
    this.depth += 1;
    const isFrame = this.depth === 1 || (this.depth === 2 && this.key === this.listName && char === '[');
    if (!isFrame) this.keep(char);
  }

  private close(char: string): void {
    this.depth -= 1;
    if (this.depth < 0) throw new Error('it is no JSON object');
    if (this.depth === 0) {
      this.endMember();
      this.isWhole = true;
    } else if (this.depth === 1 && this.key === this.listName && char === ']') {
      this.endEntry();
      // Stands for the list, whose entries were told.
      this.piece = '[]';
    } else this.keep(char);
  }

  private endMember(): void {
    const text = this.cut();
    if (this.key !== undefined) this.members.set(this.key, text);
    else if (text !== '') throw new Error('it is no JSON object');
    this.key = undefined;
  }

  private endEntry(): void {
    const text = this.cut();
    if (text !== '') this.onEntry(text);
  }

  private keep(char: string): void {
    if (this.piece.length >= MEMBER_BYTES_MAX) throw new Error('a member of it is too large');
    if (this.piece !== '' || char.trim() !== '') this.piece += char;
  }

  private cut(): string {
    const text = this.piece.trim();
    this.piece = '';
    return text;
  }
}

/** @throws StorageFault `longhorn_backup.damaged` */
export async function parseBackupFile(file: string, parts: AsyncIterable<Buffer>): Promise<BackupFile> {
  const blocks: LonghornBlock[] = [];
  const splitter = new MemberSplitter('Blocks', (text) => {
    const { Offset: offset, BlockChecksum: checksum } = blockSchema.parse(JSON.parse(text));
    if (offset <= (blocks.at(-1)?.offset ?? -1)) throw new Error('its blocks are not in order');
    if (blocks.length >= BLOCKS_MAX) throw new Error('it has too many blocks');
    blocks.push({ offset, checksum });
  });
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    for await (const part of parts) splitter.push(decoder.decode(part, { stream: true }));
    splitter.push(decoder.decode());
    splitter.end();
    const members = Object.fromEntries(
      [...splitter.members]
        .filter(([name]) => name !== 'Blocks')
        .map(([name, text]) => [name, JSON.parse(text)]),
    );
    return { ...membersSchema.parse(members), blocks };
  } catch (error) {
    if (error instanceof Error && 'traits' in error) throw error;
    throw damagedFile(file, `no backup's file: ${problemOf(error)}`, error);
  }
}

/** A sentence: what zod finds is a list. */
function problemOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const [first] = error.issues;
    return `${first?.path.join('.') ?? ''} ${first?.message ?? ''}`.trim();
  }
  return error instanceof Error ? error.message : String(error);
}
