/** Targets by their addresses: `file:///folder`, or `s3://bucket@region/prefix`. Credentials come apart from the address, which may be shown. */
import type { LookupFunction } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { FileStore } from './file-store.js';
import type { ObjectStore } from './object-store.js';
import { RetryingStore } from './retrying-store.js';

export type TargetCredentials = {
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
  readonly endpoint?: string;
  readonly isVirtualHosted?: boolean;
  readonly authority?: string;
  readonly lookup?: LookupFunction;
};

const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:@([a-z0-9-]+))?(?:\/(.*))?$/;
const REGION = 'us-east-1';

/** @throws StorageFault `request.invalid` where the address is none of a target */
export async function openTarget(address: string, credentials: TargetCredentials = {}): Promise<ObjectStore> {
  return new RetryingStore(await bareTarget(address, credentials), (ms) => sleep(ms));
}

async function bareTarget(address: string, credentials: TargetCredentials): Promise<ObjectStore> {
  // `vfs` is how Longhorn's library names a folder.
  if (/^(file|vfs):\/\/\//.test(address)) return new FileStore(path.resolve(new URL(address).pathname));
  const found = S3.exec(address);
  if (found === null)
    throw invalid(`${address} is no address of a target: file:///folder or s3://bucket@region/prefix`);
  const [, bucket = '', region = REGION, prefix = ''] = found;
  const { accessKeyId, secretAccessKey, isVirtualHosted = false, ...others } = credentials;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw invalid('an access key and its secret are needed for a bucket');
  const folder = prefix.split('/').filter((part) => part !== '');
  // Loaded for a bucket only: Amazon's client takes a good part of a second, which a folder need not wait for.
  const { S3Store } = await import('./s3-store.js');
  return new S3Store({
    bucket,
    region,
    prefix: folder.length === 0 ? '' : `${folder.join('/')}/`,
    accessKeyId,
    secretAccessKey,
    isVirtualHosted,
    ...others,
  });
}

const invalid = (publicMessage: string) => new StorageFault('request.invalid', { publicMessage });
