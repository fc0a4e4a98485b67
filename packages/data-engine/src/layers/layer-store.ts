/** Open files of a copy's layers. All frozen layers are open, also those on branches: rebuilds read them. */
import { Bug } from '@holdfast/core/model/faults.js';
import { closeAll } from '../base/close-all.js';
import type { CopyFiles } from '../disk/disk-store.js';
import { Chain } from './chain.js';
import { Layer } from './layer.js';
import { chainOf, type LayerMetadata } from './layer-tree.js';

export class LayerStore {
  private current: Chain;

  private constructor(
    private readonly copyFiles: CopyFiles,
    private files: ReadonlyMap<string, Layer>,
    layers: readonly LayerMetadata[],
  ) {
    this.current = chainIn(files, layers);
  }

  /** @param isOld the copy has format 3 (`map-file.ts`) */
  static async open(
    copyFiles: CopyFiles,
    layers: readonly LayerMetadata[],
    isOld: boolean,
  ): Promise<LayerStore> {
    const files = new Map<string, Layer>();
    try {
      for (const { file, sizeBytes } of layers)
        files.set(file, await Layer.open(copyFiles, file, sizeBytes, isOld));
    } catch (error) {
      await closeAll(files.values());
      throw error;
    }
    return new LayerStore(copyFiles, files, layers);
  }

  /** The chain from the root to the head: the device's content. */
  get chain(): Chain {
    return this.current;
  }

  chainOf(layers: readonly LayerMetadata[]): Chain {
    return new Chain(layers.map(({ file }) => this.require(file)));
  }

  layerIn(file: string): Layer | undefined {
    return this.files.get(file);
  }

  require(file: string): Layer {
    return required(this.files, file);
  }

  /**
   * Switches to another set of layers. Missing files are created and short ones grow; then `save` commits the change;
   * only then files that are no longer named are closed. A crash before `save` leaves stray files, nothing else.
   */
  async change(layers: readonly LayerMetadata[], save: () => Promise<void>): Promise<void> {
    const next = new Map<string, Layer>();
    const made: Layer[] = [];
    try {
      for (const { file, sizeBytes } of layers) {
        const there = this.files.get(file);
        await there?.grow(sizeBytes);
        const layer = there ?? (await Layer.create(this.copyFiles, file, sizeBytes));
        if (there === undefined) made.push(layer);
        next.set(file, layer);
      }
      if (made.length > 0) await this.copyFiles.syncNames();
      await save();
    } catch (error) {
      await closeAll(made);
      throw error;
    }
    const gone = [...this.files].filter(([file]) => !next.has(file)).map(([, layer]) => layer);
    this.files = next;
    this.current = chainIn(next, layers);
    // Ignored: the change is made, and nothing of these files is needed any more.
    await closeAll(gone).catch(() => undefined);
  }

  close(): Promise<void> {
    return closeAll(this.files.values());
  }
}

function chainIn(files: ReadonlyMap<string, Layer>, layers: readonly LayerMetadata[]): Chain {
  return new Chain(chainOf(layers).map(({ file }) => required(files, file)));
}

function required(files: ReadonlyMap<string, Layer>, file: string): Layer {
  const layer = files.get(file);
  if (layer === undefined) throw new Bug(`the layer file ${file} is not open`);
  return layer;
}
