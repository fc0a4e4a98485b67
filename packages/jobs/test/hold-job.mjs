/** A worker that takes every job and never ends one; it reports the jobs it holds to its parent, which kills it. */
import { openBackend } from '@holdfast/jobs/backend.js';
import { WakeWorkers } from '@holdfast/jobs/wake-workers.js';

const [databaseUrl, redisUrl] = process.argv.slice(2);
const hold = (id) => {
  process.send(id);
  return new Promise(() => {});
};
new WakeWorkers(
  openBackend({ databaseUrl, redisUrl }),
  {
    volume: { concurrency: { safety: 1, request: 1, bulk: 1 }, run: ({ volumeId }) => hold(volumeId) },
    cluster: { concurrency: 1, run: ({ clusterId }) => hold(clusterId) },
  },
  (error) => console.error(error),
);
