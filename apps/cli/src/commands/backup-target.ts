/** Backup targets for commands that work without a control plane: their address is an argument, and their credentials come by the environment. */
import { readFileSync } from 'node:fs';
import type { ObjectStore } from '@holdfast/backup/store/object-store.js';
import { type Command } from 'commander';
import { CliError, EXIT, type ExitCode } from '../exit-codes.js';
import { printable } from '../output/printable.js';

export const TARGET_HELP =
  '\nA target is file:///folder (or vfs:///folder), or s3://bucket@region/prefix with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and' +
  '\nAWS_SESSION_TOKEN (of temporary credentials) in the environment, and AWS_ENDPOINT_URL for other servers than those of Amazon.';

export const TARGET = 'file:///folder, or s3://bucket@region/prefix';

export type TargetOptions = { readonly virtualHosted?: boolean; readonly ca?: string };

export function withTargetOptions(command: Command): Command {
  return command
    .option('--virtual-hosted', "the bucket's name is part of the host name, and not of the path")
    .option('--ca <file>', "certificates in PEM by which the endpoint's is trusted");
}

/** Does something with the target, and tells what it refuses with an exit code. */
export async function withTarget<Value>(
  address: string,
  { virtualHosted = false, ca }: TargetOptions,
  work: (store: ObjectStore) => Promise<Value>,
): Promise<Value> {
  const { openTarget } = await import('@holdfast/backup/store/open-target.js');
  const environment = process.env;
  return told(async () => {
    const store = await openTarget(address, {
      ...given('accessKeyId', environment.AWS_ACCESS_KEY_ID),
      ...given('secretAccessKey', environment.AWS_SECRET_ACCESS_KEY),
      ...given('sessionToken', environment.AWS_SESSION_TOKEN),
      ...given('endpoint', environment.AWS_ENDPOINT_URL ?? environment.AWS_ENDPOINTS),
      ...given('authority', ca === undefined ? environment.AWS_CERT : readFileSync(ca, 'utf8')),
      isVirtualHosted: virtualHosted,
    });
    try {
      return await work(store);
    } finally {
      store.close();
    }
  });
}

function given<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, string>> {
  // The cast: an object of this one name.
  return value === undefined || value === '' ? {} : ({ [name]: value } as Partial<Record<Name, string>>);
}

type Fault = Error & { readonly code: string; readonly traits: { readonly kind: string } };

/** The package for backups is not part of the bundle: its faults are told by their form, since their class is another copy. */
function isFault(error: unknown): error is Fault {
  return error instanceof Error && error.name === 'StorageFault' && 'traits' in error && 'code' in error;
}

const EXIT_OF: Partial<Record<string, ExitCode>> = {
  'not-found': EXIT.notFound,
  invalid: EXIT.usage,
  'too-large': EXIT.usage,
  forbidden: EXIT.auth,
  unavailable: EXIT.unreachable,
};
const DAMAGED = ['backup.damaged', 'longhorn_backup.damaged', 'longhorn_replica.unusable'];

/** Makes expected failures of what does the work into exit codes and sentences. */
export async function told<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (isFault(error)) {
      const code = DAMAGED.includes(error.code)
        ? EXIT.unsatisfied
        : (EXIT_OF[error.traits.kind] ?? EXIT.conflict);
      throw new CliError(code, printable(`${error.message} (${error.code})`));
    }
    if (
      error instanceof Error &&
      'code' in error &&
      typeof error.code === 'string' &&
      /^E[A-Z]+$/.test(error.code)
    )
      throw new CliError(EXIT.usage, printable(error.message));
    throw error;
  }
}
