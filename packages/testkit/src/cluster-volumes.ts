/** Volumes that a test makes over the API before its story begins. */
import type { ClusterHome } from './cluster-home.js';
import { eventually } from './eventually.js';

type Volume = { id: string; state: string; message?: string };
type VolumeOptions = {
  sizeBytes?: number;
  copies?: number;
  /** Name of the node that it is attached to; left out: it stays detached. */
  attachTo?: string;
};

/** Makes a volume with its copies, small and of three copies where nothing else is said. @returns its id */
export async function createVolume(
  cluster: ClusterHome,
  name: string,
  { sizeBytes = 16 * 2 ** 20, copies = 3, attachTo }: VolumeOptions = {},
): Promise<string> {
  const { id } = await taken(cluster, '/volumes', { name, size: sizeBytes, numberOfReplicas: copies });
  await becomes(cluster, id, 'detached');
  if (attachTo !== undefined) {
    await taken(cluster, `/volumes/${id}/attach`, { nodeId: cluster.agent(attachTo).nodeId });
    await becomes(cluster, id, 'attached');
  }
  return id;
}

/** Changes a setting of the cluster, or sets it back to its default where no value is given. */
export async function changeSetting(
  cluster: ClusterHome,
  name: string,
  value?: number | boolean | string,
): Promise<void> {
  const [method, body] = value === undefined ? ['DELETE'] : ['PUT', { value }];
  const answer = await cluster.call(method, `/settings/${name}`, body);
  if (answer.status >= 300) throw new Error(`${name} could not be set: ${JSON.stringify(answer)}`);
}

async function taken(cluster: ClusterHome, path: string, body: object): Promise<Volume> {
  const answer = await cluster.call<Volume>('POST', path, body);
  if (answer.status >= 300) throw new Error(`${path} is answered ${JSON.stringify(answer)}`);
  return answer.body;
}

async function becomes(cluster: ClusterHome, id: string, state: string): Promise<void> {
  await eventually(
    `the volume is ${state}`,
    async () => (await cluster.call<Volume>('GET', `/volumes/${id}`)).body,
    (volume) => volume.state === state,
  );
}
