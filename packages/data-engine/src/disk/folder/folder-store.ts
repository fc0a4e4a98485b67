/** Store of copies in a folder of a file system: a directory for each copy, with plain files in it. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { BlockFile, type BlockFileOptions, type KnownDisk } from '../block-file.js';
import type { CopyFile, CopyFiles, DiskStore, FileUse } from '../disk-store.js';
import { syncDirectory } from '../durable-file.js';
import { supportsDirectIo } from './direct-io.js';
import {
  allocatedBytes,
  bytesOnDisk,
  listReplicas,
  makeReplicaDirectory,
  removeReplicaDirectory,
  replicaDirectory,
} from './replica-files.js';
import { SpareText } from './spare-text.js';

export class FolderStore implements DiskStore {
  readonly kind = 'filesystem';

  /** @param known observed pace of the disk; left out: the process has one disk only, as replica hosts do */
  constructor(
    private readonly diskPath: string,
    private readonly known?: KnownDisk,
  ) {}

  create(replicaId: string, fill: (files: CopyFiles) => Promise<void>): Promise<void> {
    return makeReplicaDirectory(this.diskPath, replicaId, (directory) =>
      fill(new FolderFiles(directory, this.known)),
    );
  }

  async open(replicaId: string): Promise<CopyFiles> {
    return new FolderFiles(replicaDirectory(this.diskPath, replicaId), this.known);
  }

  readText(replicaId: string, name: string): Promise<string | undefined> {
    return new FolderFiles(replicaDirectory(this.diskPath, replicaId), this.known).readText(name);
  }

  remove(replicaId: string): Promise<void> {
    return removeReplicaDirectory(this.diskPath, replicaId);
  }

  list(): Promise<string[]> {
    return listReplicas(this.diskPath);
  }

  allocatedBytes(replicaId: string): Promise<number> {
    return allocatedBytes(replicaDirectory(this.diskPath, replicaId));
  }

  usedBytes(): Promise<number> {
    return bytesOnDisk(this.diskPath);
  }

  async close(): Promise<void> {
    // No-op: nothing stays open between calls.
  }
}

export class FolderFiles implements CopyFiles {
  readonly kind = 'filesystem';
  private readonly texts = new Map<string, SpareText>();
  onLost: (failure: Error) => void = () => undefined;
  private hasLost = false;

  constructor(
    private readonly directory: string,
    private readonly known?: KnownDisk,
  ) {}

  get hasFailed(): boolean {
    return this.hasLost;
  }

  async createFile(name: string, sizeBytes: number, use: FileUse): Promise<CopyFile> {
    return BlockFile.create(this.pathOf(name), sizeBytes, await this.optionsFor(use));
  }

  async openFile(name: string, use: FileUse): Promise<CopyFile> {
    return BlockFile.open(this.pathOf(name), await this.optionsFor(use));
  }

  syncNames(): Promise<void> {
    return syncDirectory(this.directory);
  }

  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    for (const name of await fs.readdir(this.directory)) {
      // Layer files only. Texts have other suffixes; a text that was never renamed is a leftover.
      const isFile = name.endsWith('.img') || name.endsWith('.map') || name.endsWith('.sums');
      if ((isFile && !names.has(name)) || name.endsWith('.tmp'))
        await fs.rm(this.pathOf(name), { force: true });
    }
  }

  readText(name: string): Promise<string | undefined> {
    return this.text(name).read();
  }

  writeText(name: string, text: string, begins?: () => void): Promise<void> {
    return this.text(name).replace(text, begins);
  }

  async close(): Promise<void> {
    // No-op: the directory itself is not held open.
  }

  private text(name: string): SpareText {
    let text = this.texts.get(name);
    if (text === undefined) {
      text = new SpareText(this.directory, name);
      this.texts.set(name, text);
    }
    return text;
  }

  /**
   * Maps are preallocated: a flush stores map pages for data that was already accepted, and must not find the disk
   * full.
   */
  private async optionsFor({ kind }: FileUse): Promise<BlockFileOptions> {
    const direct = kind === 'data' && (await supportsDirectIo(this.directory));
    const onLost = (failure: Error) => {
      this.hasLost = true;
      this.onLost(failure);
    };
    const options = { direct, cachesSmallWrites: direct, reserved: kind === 'map', onLost };
    return this.known === undefined ? options : { ...options, disk: this.known };
  }

  private pathOf(name: string): string {
    return path.join(this.directory, name);
  }
}
