/** A connection that is reset after its call was carried out: the call is sent again, and must do nothing twice. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Ask, CommandName } from '@holdfast/data-engine/protocol/commands.js';
import { Replica } from '@holdfast/data-engine/replica/replica.js';
import { ReplicaService } from '@holdfast/data-engine/replica-server/replica-service.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { connectByHttp } from './http-replica-control.js';

const MIB = 1024 * 1024;
const SIZE = 64 * MIB;

let disk: string;
let replicaId: string;
let service: ReplicaService;
let server: http.Server;
/** Names of the calls that the copy has carried out. */
let done: string[];
/** Name of a call that is carried out once, its connection being reset before the answer. */
let resetAfter: string | undefined;

beforeEach(async () => {
  disk = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-resend-'));
  replicaId = crypto.randomUUID();
  const volumeId = crypto.randomUUID();
  const spec = { replicaId, volumeId, diskId: volumeId, sizeBytes: SIZE, secret: 'secret', record: null };
  await Replica.create(disk, spec);
  service = new ReplicaService(connectByHttp);
  await service.open(disk, replicaId);
  done = [];
  resetAfter = undefined;
  server = http.createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await service.closeAll(0);
  await fs.rm(disk, { recursive: true, force: true });
});

describe('a call on a connection that was kept open', () => {
  test('is carried out once, however often it arrives', async () => {
    // The cast: a server that listens on a port has an address with one.
    const { port } = server.address() as AddressInfo;
    const control = connectByHttp({
      replicaId,
      nodeId: replicaId,
      controlUrl: `http://127.0.0.1:${port}`,
      secret: 'secret',
    });
    const { lease, headId: expectedHeadId } = await control.command('open', { epoch: 1, count: 1 });
    const { replica } = await service.find(replicaId);
    const data = Buffer.alloc(MIB, 7);
    await replica.write(0, [data], MIB, { fua: false, epoch: 1 });

    const layer = {
      id: crypto.randomUUID(),
      name: 'a',
      origin: 'user' as const,
      createdAt: '2026-01-01T00:00:00Z',
      drop: null,
    };
    resetAfter = 'snapshot';
    const headId = crypto.randomUUID();
    const ask = { epoch: 1, lease, sizeBytes: SIZE, layer, expectedHeadId, headId };
    await expect(control.command('snapshot', ask)).resolves.toEqual({ headId });

    resetAfter = 'revert';
    const revert = {
      epoch: 1,
      lease,
      layerId: layer.id,
      expectedHeadId: headId,
      headId: crypto.randomUUID(),
    };
    await expect(control.command('revert', revert)).resolves.toEqual({ headId: revert.headId });

    resetAfter = 'prepare';
    const prepare = {
      epoch: 1,
      lease,
      rebuildId: crypto.randomUUID(),
      layers: [{ ...layer, parentId: null, sizeBytes: SIZE, removed: false, from: layer.id }],
      headParentId: layer.id,
      sizeBytes: SIZE,
      expectedHeadId: revert.headId,
      headId: crypto.randomUUID(),
    };
    await expect(control.command('prepare', prepare)).resolves.toEqual({ headId: prepare.headId });

    expect(done).toEqual(['open', 'snapshot', 'snapshot', 'revert', 'revert', 'prepare', 'prepare']);
    expect(replica.metadata.layers.map(({ name }) => name)).toEqual(['a', 'head']);
  });
});

async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  // The cast: Node types the stream's chunks as any; without an encoding they are buffers.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  // The casts: only this file's own calls arrive.
  const name = request.url?.split('/').at(-1) as CommandName;
  const ask = JSON.parse(Buffer.concat(chunks).toString()) as Ask<CommandName>;
  const reply = await service.command(replicaId, name, ask);
  done.push(name);
  if (name === resetAfter) {
    resetAfter = undefined;
    request.socket.resetAndDestroy();
    return;
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ reply }));
}
