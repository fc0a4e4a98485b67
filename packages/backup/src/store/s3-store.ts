/** A bucket as a target: any endpoint that speaks S3. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectRetentionCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { ObjectInfo, ObjectStore, PutOptions } from './object-store.js';
import { full, refused, tooLarge, unreachable } from './store-faults.js';

export type S3Options = {
  readonly bucket: string;
  /** Of all names; empty, or ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  /** Left out: Amazon's of the region. */
  readonly endpoint?: string;
  readonly isVirtualHosted: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
  /** Certificates in PEM that the endpoint's is trusted by, beside the system's. */
  readonly authority?: string;
  /** Resolves the endpoint's name: where the installation guards which addresses may be called. */
  readonly lookup?: LookupFunction;
};

/** A connection that stays silent for so long is given up: a slow target sends something all the time. */
const SILENCE_MS = 30_000;
const CONNECT_MS = 10_000;
/** Of a whole call. A pack of 64 MiB then needs 220 KiB/s. */
const CALL_MS = 300_000;
const CONNECTIONS_MAX = 16;
const LIST_PAGE = 1000;

export class S3Store implements ObjectStore {
  readonly description: string;
  private readonly client: S3Client;

  constructor(private readonly options: S3Options) {
    this.description = `s3://${options.bucket}/${options.prefix}`;
    const agent = {
      keepAlive: true,
      maxSockets: CONNECTIONS_MAX,
      ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    };
    const ca = options.authority === undefined ? {} : { ca: options.authority };
    this.client = new S3Client({
      region: options.region,
      ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
      forcePathStyle: !options.isVirtualHosted,
      credentials: {
        accessKeyId: options.accessKeyId,
        secretAccessKey: options.secretAccessKey,
        ...(options.sessionToken === undefined ? {} : { sessionToken: options.sessionToken }),
      },
      // Other vendors' servers refuse the checksums that the client would else add to each request.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // Whoever calls a store repeats calls in one place, with a bound over all of them.
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler({
        connectionTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        httpAgent: new HttpAgent(agent),
        httpsAgent: new HttpsAgent({ ...agent, ...ca }),
      }),
    });
  }

  async get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.body(name, {}, bytesMax);
  }

  async getRange(
    name: string,
    offset: number,
    lengthBytes: number,
    memory?: Buffer,
  ): Promise<Buffer | undefined> {
    if (lengthBytes === 0) return Buffer.alloc(0);
    const bytes = await this.body(
      name,
      { Range: `bytes=${offset}-${offset + lengthBytes - 1}` },
      lengthBytes,
      memory,
    );
    return bytes === undefined || bytes.length < lengthBytes ? undefined : bytes;
  }

  private async body(
    name: string,
    range: { Range?: string },
    bytesMax: number,
    memory?: Buffer,
  ): Promise<Buffer | undefined> {
    return this.calling(name, async (abortSignal) => {
      const command = new GetObjectCommand({ ...this.at(name), ...range });
      const answer = await this.client.send(command, { abortSignal }).catch(absent);
      return answer === undefined ? undefined : bytesOf(name, answer, bytesMax, memory);
    });
  }

  async put(
    name: string,
    bytes: Buffer,
    { ifAbsent = false, lockedUntil }: PutOptions = {},
  ): Promise<'stored' | 'exists'> {
    return this.calling(name, async (abortSignal) => {
      const lock =
        lockedUntil === undefined
          ? {}
          : ({ ObjectLockMode: 'COMPLIANCE', ObjectLockRetainUntilDate: lockedUntil } as const);
      const condition = ifAbsent ? { IfNoneMatch: '*' } : {};
      const command = new PutObjectCommand({
        ...this.at(name),
        Body: bytes,
        ContentLength: bytes.length,
        ...lock,
        ...condition,
      });
      try {
        await this.client.send(command, { abortSignal });
        return 'stored';
      } catch (error) {
        if (ifAbsent && [409, 412].includes(statusOf(error))) return 'exists';
        throw error;
      }
    });
  }

  async head(name: string): Promise<ObjectInfo | undefined> {
    return this.calling(name, async (abortSignal) => {
      const answer = await this.client
        .send(new HeadObjectCommand(this.at(name)), { abortSignal })
        .catch(absent);
      if (answer === undefined) return undefined;
      return { name, sizeBytes: answer.ContentLength ?? 0, modifiedAt: answer.LastModified ?? new Date(0) };
    });
  }

  async *list(prefix: string): AsyncIterable<ObjectInfo> {
    const { bucket, prefix: root } = this.options;
    let token: string | undefined;
    do {
      const page = await this.calling(prefix, (abortSignal) =>
        this.client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: `${root}${prefix}`,
            MaxKeys: LIST_PAGE,
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
          { abortSignal },
        ),
      );
      for (const {
        Key: key = '',
        Size: sizeBytes = 0,
        LastModified: modifiedAt = new Date(0),
      } of page.Contents ?? [])
        if (key.startsWith(root)) yield { name: key.slice(root.length), sizeBytes, modifiedAt };
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async delete(name: string): Promise<'deleted' | 'locked'> {
    return this.calling(name, async (abortSignal) => {
      try {
        await this.client.send(new DeleteObjectCommand(this.at(name)), { abortSignal });
        return 'deleted';
      } catch (error) {
        if (statusOf(error) === 404) return 'deleted';
        if (statusOf(error) === 403 && /object lock|retention|WORM|locked/i.test(String(error)))
          return 'locked';
        throw error;
      }
    });
  }

  async lock(name: string, until: Date): Promise<void> {
    await this.calling(name, (abortSignal) =>
      this.client.send(
        new PutObjectRetentionCommand({
          ...this.at(name),
          Retention: { Mode: 'COMPLIANCE', RetainUntilDate: until },
        }),
        { abortSignal },
      ),
    );
  }

  close(): void {
    this.client.destroy();
  }

  private at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.options.bucket, Key: `${this.options.prefix}${name}` };
  }

  private async calling<Value>(name: string, call: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    try {
      return await call(AbortSignal.timeout(CALL_MS));
    } catch (error) {
      throw faultOf(name, error);
    }
  }
}

async function bytesOf(
  name: string,
  answer: GetObjectCommandOutput,
  bytesMax: number,
  memory?: Buffer,
): Promise<Buffer> {
  const { ContentLength: lengthBytes, Body: body } = answer;
  if (body === undefined) throw unreachable(`no content came for ${name}`);
  const parts: Buffer[] = [];
  const target = memory !== undefined && memory.length >= bytesMax ? memory : undefined;
  let received = 0;
  // The cast: on Node the content is a readable stream, which the client's types leave open.
  for await (const part of body as AsyncIterable<Buffer>) {
    const at = received;
    received += part.length;
    if (received > bytesMax || (lengthBytes ?? 0) > bytesMax) {
      if ('destroy' in body && typeof body.destroy === 'function') body.destroy();
      throw tooLarge(name, Math.max(received, lengthBytes ?? 0), bytesMax);
    }
    if (target === undefined) parts.push(part);
    else part.copy(target, at);
  }
  if (lengthBytes !== undefined && received !== lengthBytes)
    throw unreachable(`the answer for ${name} was cut off`);
  return target?.subarray(0, received) ?? Buffer.concat(parts, received);
}

const statusOf = (error: unknown): number =>
  error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 0) : 0;

/** No such object, or a range behind its end. */
function absent(error: unknown): undefined {
  const isNoBucket = error instanceof S3ServiceException && error.name === 'NoSuchBucket';
  if (!isNoBucket && [404, 416].includes(statusOf(error))) return undefined;
  throw error;
}

function faultOf(name: string, error: unknown): unknown {
  if (error instanceof Error && 'traits' in error) return error;
  const status = statusOf(error);
  const kind = error instanceof Error ? error.name : 'error';
  if (status === 507 || kind === 'QuotaExceeded' || kind === 'XMinioStorageFull') return full(error);
  if (status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status))
    return refused(`${kind} (${status}) for ${name}`, error);
  return unreachable(status === 0 ? `${kind} for ${name}` : `${kind} (${status}) for ${name}`, error);
}
