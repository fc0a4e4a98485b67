/** Bytes of an attached volume of a cluster under test, over NBD as its users reach them. */
import type { ClusterHome } from './cluster-home.js';
import { connectNbd } from './nbd-workload.js';

type Attached = { endpoint: { nbdUri: string } | null };

/** Writes durably. */
export async function writeVolume(
  stack: ClusterHome,
  name: string,
  offset: number,
  data: Buffer,
): Promise<void> {
  const client = await clientOf(stack, name);
  await client.write(offset, [data], data.length, { fua: true });
  client.close();
}

/** The volume's first bytes. */
export async function readVolume(stack: ClusterHome, name: string, lengthBytes: number): Promise<Buffer> {
  const client = await clientOf(stack, name);
  const data = Buffer.concat(await client.read(0, lengthBytes));
  client.close();
  return data;
}

async function clientOf(stack: ClusterHome, name: string): ReturnType<typeof connectNbd> {
  const { endpoint } = await stack.cliJson<Attached>('volume', 'get', name);
  if (endpoint === null) throw new Error(`${name} is not attached`);
  return connectNbd(endpoint.nbdUri);
}
