/** A Longhorn backupstore of our own making, in the shapes that its engine writes. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { FakeTarget } from '@holdfast/testkit/fake-target.js';
import { volumeFolder } from '../src/longhorn/backupstore.js';
import { xxh32 } from '../src/longhorn/lz4-frame.js';

export const MIB = 1024 ** 2;
const CHUNK = 4 * MIB;

export const checksumOf = (bytes: Uint8Array) =>
  createHash('sha512').update(bytes).digest('hex').slice(0, 64);

/** A frame of blocks that are stored as they are. */
function lz4Frame(bytes: Buffer): Buffer {
  const descriptor: Buffer = Buffer.from([0x64, 0x70]);
  const parts = [
    Buffer.from([4, 0x22, 0x4d, 0x18]),
    descriptor,
    Buffer.from([(xxh32(descriptor) >>> 8) & 0xff]),
  ];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const chunk = bytes.subarray(at, at + CHUNK);
    parts.push(word(chunk.length + 2 ** 31), chunk);
  }
  return Buffer.concat([...parts, word(0), word(xxh32(bytes))]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const COMPRESS = { none: (bytes: Buffer) => bytes, gzip: (bytes: Buffer) => gzipSync(bytes), lz4: lz4Frame };

type BackupOptions = {
  blocks: Record<number, Buffer>;
  compression?: keyof typeof COMPRESS;
  /** Changes of the file's members. */
  members?: object;
};

export class LonghornTarget {
  readonly target = new FakeTarget();

  constructor(readonly volumeName: string) {
    this.volume();
  }

  put(name: string, bytes: Buffer | string): void {
    this.target.objects.set(name, { bytes: Buffer.from(bytes), modifiedAt: new Date() });
  }

  volume(members: object = {}): void {
    const volume = {
      Name: this.volumeName,
      Size: String(8 * MIB),
      Labels: null,
      CreatedTime: '2026-01-01T00:00:00Z',
      LastBackupName: 'b2',
      LastBackupAt: '2026-01-02T00:00:00Z',
      BlockCount: '2',
      BackingImageName: '""',
      CompressionMethod: '"lz4"',
    };
    this.put(`${volumeFolder(this.volumeName)}volume.cfg`, JSON.stringify({ ...volume, ...members }));
  }

  fileOf(backup: string): string {
    return `${volumeFolder(this.volumeName)}backups/backup_${backup}.cfg`;
  }

  blockFile(checksum: string): string {
    return `${volumeFolder(this.volumeName)}blocks/${checksum.slice(0, 2)}/${checksum.slice(2, 4)}/${checksum}.blk`;
  }

  backup(name: string, { blocks, compression = 'gzip', members = {} }: BackupOptions): void {
    const list = Object.entries(blocks).map(([offset, bytes]) => {
      this.put(this.blockFile(checksumOf(bytes)), COMPRESS[compression](bytes));
      return { Offset: Number(offset), BlockChecksum: checksumOf(bytes) };
    });
    const backup = {
      Name: name,
      VolumeName: this.volumeName,
      SnapshotName: `snap-${name}`,
      SnapshotCreatedAt: '2026-01-01T00:00:00Z',
      CreatedTime: `2026-01-0${name.slice(-1)}T00:00:00Z`,
      Size: String(list.length * 2 * MIB),
      Labels: { KubernetesStatus: '{"pvcName":"a \\"quoted\\" [claim]"}' },
      IsIncremental: false,
      CompressionMethod: compression,
      ProcessingBlocks: {},
      Blocks: list,
      SingleFile: { FilePath: '' },
    };
    this.put(this.fileOf(name), JSON.stringify({ ...backup, ...members }));
  }
}
